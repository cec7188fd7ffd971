"""Runners behind sockets, direct and in bubblewrap, whose program runs its arguments as a command."""

import json
import os
import secrets
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import parachute_runner

from tests.supervisor.launching import Launcher

WRAPPER = Path(parachute_runner.__path__[0]) / "wrapper.py"
RUNNER = Path(parachute_runner.__path__[0]) / "runner.py"


@dataclass
class Sandbox:
    """Place in which commands run: the socket of a runner and the working directory inside."""

    socket: Path
    directory: str
    launcher: Launcher
    unit: str
    environment: dict[str, str] = field(default_factory=dict)

    def start(self, *command: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a command through the wrapper, as the SDK would."""
        environment = {
            "PARACHUTE_AGENT_SOCKET": str(self.socket),
            "PARACHUTE_AGENT_DIRECTORY": self.directory,
            "PATH": os.environ["PATH"],
            **self.environment,
        }
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([sys.executable, "-IS", str(WRAPPER), *command], env=environment, **streams)

    def run(self, *command: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end.

        Without `data` its input stays open: five seconds after the end of its input an agent is ended, and a command may take
        longer than that where others want the processor.
        """
        reading, writing = os.pipe()
        options = {} if data is not None else {"stdin": reading}
        try:
            with self.start(*command, **options) as process:
                try:
                    output, errors = process.communicate(data, timeout=90)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
        finally:
            os.close(reading)
            os.close(writing)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def shell(self, script: str, data: bytes | None = None) -> str:
        """The output of a shell script, which must succeed."""
        done = self.run("/bin/sh", "-c", script, data=data)
        assert done.returncode == 0, done
        return done.stdout.decode()

    def python(self, code: str, *arguments: str) -> Any:
        """Return the JSON that a piece of Python prints."""
        done = self.run(interpreter(), "-ISc", code, *arguments)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)


def interpreter() -> str:
    """A Python that is there inside as well as outside."""
    return str(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}")


def outside(code: str, *arguments: str) -> Any:
    """The same as `Sandbox.python`, without a sandbox: the control that shows that a probe can succeed."""
    done = subprocess.run([interpreter(), "-ISc", code, *arguments], capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)


def marker() -> str:
    """A number of seconds that no other process sleeps, to find those that a test starts."""
    return f"4{secrets.randbelow(10**9):09d}"
