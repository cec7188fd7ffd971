"""testinfra in the second guest: commands go over its serial line."""

from typing import Any

from testinfra.backend.base import BaseBackend, CommandResult
from testinfra.host import Host

from tests.appliance.backend import SECONDS, logged_in
from tests.appliance.uml.serial_line import SerialLine


class LineBackend(BaseBackend):
    """Runs commands as root or as the guest's user."""

    NAME = "line"

    def __init__(self, line: SerialLine, user: str) -> None:
        super().__init__("line")
        self._serial_line = line
        self._user = user

    @classmethod
    def host(cls, line: SerialLine, user: str) -> Host:
        """A testinfra host for one user of the guest."""
        backend = cls(line, user)
        host = Host(backend)
        backend.set_host(host)
        return host

    def run(self, command: str, *args: str, seconds: float = SECONDS, **_: Any) -> CommandResult:
        text = self.get_command(command, *args)
        answer = self._serial_line.ask(logged_in(self._user, "sh", "-c", f"cd; {text}"), seconds)
        if answer.code is None:
            raise TimeoutError(f"It took more than {seconds} s: {text}")
        return self.result(answer.code, text.encode(), answer.stdout, answer.stderr)
