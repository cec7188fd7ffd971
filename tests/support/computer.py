"""A whole computer in a test: the real supervisor, core, sandbox and agent program, with a scripted Messages API."""

import contextlib
import fcntl
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import psutil

from tests.support.installation import PLAIN, Installation
from tests.support.kinds import starts_a_computer
from tests.support.waiting import SECONDS, still_running


class Computer(Installation):
    """One computer with its processes: the supervisor and everything that it starts."""

    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        starts_a_computer()
        self._write_settings()
        environment = {
            "HOME": str(self.folder),
            "PATH": os.environ["PATH"],
            "PARACHUTE_HOME": str(self.home.root),
            "LANG": "C.UTF-8",
            # Benchmarks and pictures of screens are taken without the zone of the tests.
            **({"TZ": os.environ["TZ"]} if "TZ" in os.environ else {}),
            **self._environment,
        }
        command = [sys.executable, "-m", "parachute.supervisor", "--host", self.host, "--port", str(self.port)]
        with (self.home.logs / "supervisor.log").open("ab") as log:
            # As `parachute start` does: Python imports from the folder that a program is started in.
            self._process = subprocess.Popen(
                command,
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.wait_until(self._answers, "the computer answers")

    def stop(self) -> None:
        """Stop it as a person would, and see that every process has gone."""
        if self._process is None:
            return
        family = self.processes()
        self._process.terminate()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f"The supervisor did not stop.\n{self.logs()}") from None
        finally:
            self._process = None
            alive = still_running(family)
            left = [command_line(process) or process for process in alive]
            for process in alive:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        assert not alive, f"Left behind: {left}"

    def processes(self) -> list[psutil.Process]:
        """The supervisor and every process below it."""
        if self._process is None or self._process.poll() is not None:
            return []
        supervisor = psutil.Process(self._process.pid)
        return [supervisor, *supervisor.children(recursive=True)]

    def kill_core(self) -> None:
        """kill -9 of core; returns when the supervisor has started another and it answers."""
        core = self.find_process("parachute.server")
        os.kill(core.pid, signal.SIGKILL)
        assert not still_running([core])
        self.wait_until(
            lambda: self._answers() and self.find_process("parachute.server").pid != core.pid, "core is back"
        )

    def wait_until(self, condition: Callable[[], Any], what: str, seconds: float = SECONDS) -> Any:
        """Wait for a condition that no event announces, and return its value; fails when the supervisor has ended."""

        def holds() -> Any:
            assert self._process is None or self._process.poll() is None, f"The supervisor has ended.\n{self.logs()}"
            return condition()

        return super().wait_until(holds, what, seconds)

    def _answers(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/api/health", timeout=10, **PLAIN).status_code == 200
        except httpx2.TransportError:
            return False


def command_line(process: psutil.Process) -> list[str]:
    """The arguments of a process, none if it has ended."""
    try:
        return list(process.cmdline())
    except psutil.NoSuchProcess:
        return []


_reserved: list[int] = []
"""Descriptors of locks, which end with this process."""


def free_port() -> int:
    """A port of the loopback interface that nobody uses, and that no other test gets while this process runs.

    It lies below the range from which the system takes ports for outgoing connections and for port 0.
    """
    folder = Path(tempfile.gettempdir(), f"pc-test-ports-{os.getuid()}")
    folder.mkdir(exist_ok=True)
    while True:
        port = random.randrange(10_000, 32_000)
        lock = os.open(folder / str(port), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            os.close(lock)
        else:
            _reserved.append(lock)
            return port
