"""A computer that runs as services in the guest, and what tests ask it about its modules."""

import json
import shlex
import time
from collections.abc import Callable
from typing import Any

from testinfra.host import Host

from tests.appliance.recipe import SOURCE

URL = "http://127.0.0.1:3333"
MODULES = f"{SOURCE}/tests/appliance/modules"
RUNTIME = "/run/user/1000/systemd/user"
_SECONDS = 180


class Services:
    """The guest's user, as far as modules go; `home` is where it lives."""

    def __init__(self, user: Host) -> None:
        self.user = user
        self.home = str(user.check_output("echo $HOME"))

    def run(self, command: str) -> str:
        """The output of a command that has to succeed."""
        return str(self.user.check_output(command))

    def ask(self, path: str, body: dict[str, Any] | None = None, method: str = "GET") -> tuple[int, Any]:
        """The status and the JSON of an answer of the API; with a body it is a POST."""
        command = ["curl", "-s", "--max-time", "120", "--write-out", "\\n%{http_code}", f"{URL}{path}"]
        if body is not None:
            method = "POST"
            command += ["--header", "content-type: application/json", "--data", json.dumps(body)]
        said = self.run(shlex.join([*command, "--request", method]))
        text, _, status = said.rpartition("\n")
        return int(status), json.loads(text or "null")

    def get(self, path: str) -> Any:
        """The JSON of an answer that has to be a good one."""
        status, value = self.ask(path)
        assert status == 200, (value, self.run("tail -n 20 ~/.parachute/logs/*.log"))
        return value

    def install(self, source: str) -> str:
        """Install a module without being asked, and give what was said."""
        return self.run(f"parachute modules install {shlex.quote(source)} --yes")

    def status(self, name: str) -> str:
        """The state of a module as a person reads it."""
        lines = self.run(f"parachute modules status {name}").splitlines()
        return next(line.removeprefix("State").strip() for line in lines if line.startswith("State"))

    def show(self, name: str, *properties: str) -> dict[str, str]:
        """Properties of a module's service."""
        lines = self.run(f"systemctl --user show {service(name)} --property={','.join(properties)}").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def process(self, name: str) -> str:
        """The main process of a module's service."""
        return self.show(name, "MainPID")["MainPID"]

    def asleep(self, name: str) -> None:
        """Wait until a module's service has ended, its socket still there."""
        self.until(lambda: self.show(name, "ActiveState")["ActiveState"] == "inactive", f"{name} fell asleep")
        assert self.run(f"systemctl --user is-active parachute-module@{name}.socket") == "active"

    def put_to_sleep(self, name: str) -> None:
        """End a module's service now, as if it had been idle for long enough."""

        def ended() -> bool:
            # An event, or whoever opens the app, may wake it again. As process 1 of its namespace it does not hear of a stop
            # before it has said that it listens: it would be killed later, and be a failed unit.
            if self.show(name, "ActiveState")["ActiveState"] == "inactive":
                return True
            self.run(f"systemctl --user start {service(name)} && systemctl --user stop {service(name)}")
            return False

        self.until(ended, f"{name} ended")
        self.asleep(name)

    def restart_core(self) -> None:
        """Restart core, and wait until it is up."""
        self._forget_starts()
        self.run("systemctl --user restart parachute-core.service")

    def kill_core(self) -> None:
        """Let core die; systemd starts the next one."""
        self._forget_starts()
        self.run("systemctl --user kill --signal=KILL parachute-core.service")

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something to become true."""
        deadline, pause = time.monotonic() + _SECONDS, 0.05
        while not condition():
            assert time.monotonic() < deadline, (
                f"It never came that {what}.",
                self.run("tail ~/.parachute/logs/*.log"),
                self.run("systemctl --user list-units --all --no-legend 'parachute-module@*'"),
                self.run("journalctl --user --no-pager --lines=40 2>&1 | tail -40"),
            )
            time.sleep(pause)
            # Each look starts programs in the guest, and takes the time of what it waits for.
            pause = min(pause * 1.5, 0.5)

    def _forget_starts(self) -> None:
        # It may be started five times in five minutes, and the tests before may have been quick.
        self.run("systemctl --user reset-failed parachute-core.service")


def service(name: str) -> str:
    """The unit of a module."""
    return f"parachute-module@{name}.service"
