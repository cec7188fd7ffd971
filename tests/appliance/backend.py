"""testinfra in a guest: commands enter its namespaces, so neither a network nor an agent in it is needed."""

import subprocess
from typing import Any

from testinfra.backend.base import BaseBackend, CommandResult
from testinfra.host import Host

from tests.appliance.recipe import USER, USER_ID

SECONDS = 300
"""The time limit of a command, unless the call sets another."""

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def logged_in(user: str, *command: str) -> list[str]:
    """The command line, for root of a guest, that runs `command` as one of its users with the environment of a login."""
    environment = {"PATH": _PATH, "LANG": "C.UTF-8", "USER": user, "LOGNAME": user, "HOME": "/root"}
    become = []
    if user == USER:
        runtime = f"/run/user/{USER_ID}"
        environment |= {
            "HOME": f"/home/{USER}",
            "XDG_RUNTIME_DIR": runtime,
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus",
        }
        become = ["setpriv", f"--reuid={USER_ID}", f"--regid={USER_ID}", "--init-groups", "--"]
    return ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *become, *command]


class GuestBackend(BaseBackend):
    """Runs commands in a guest as root or as its user; `leader` is the guest's process 1, as this machine numbers it."""

    NAME = "guest"

    def __init__(self, leader: int, user: str) -> None:
        super().__init__("guest")
        self._leader = leader
        self._user = user

    @classmethod
    def host(cls, leader: int, user: str) -> Host:
        """A testinfra host for one user of the guest."""
        backend = cls(leader, user)
        host = Host(backend)
        backend.set_host(host)
        return host

    def entered(self, *command: str) -> list[str]:
        """The command line, for this machine, that runs `command` in the guest with the environment of a login."""
        entering = ["nsenter", "--target", str(self._leader), "--all", "--wdns=/", "--"]
        return [*entering, *logged_in(self._user, *command)]

    def run(self, command: str, *args: str, seconds: float = SECONDS, **_: Any) -> CommandResult:
        text = self.get_command(command, *args)
        done = subprocess.run(
            self.entered("sh", "-c", f"cd; {text}"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        return self.result(done.returncode, text.encode(), done.stdout, done.stderr)
