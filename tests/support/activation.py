"""Socket activation in tests: a Unix socket is held, and a real process started when somebody connects, as systemd does."""

import http.client
import os
import select
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from tests.support.changes import Changes

DEADLINE = 60.0
# The listening socket becomes descriptor 3, and the process id stays the same across exec: what systemd does.
_START = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.execv(sys.executable, [sys.executable, "-m", *sys.argv[2:]])
"""


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path, timeout: float = DEADLINE) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class Process(Protocol):
    """The part of `subprocess.Popen` that tests use."""

    pid: int

    def wait(self) -> int: ...

    def poll(self) -> int | None: ...

    def send_signal(self, signal: int, /) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


@dataclass(kw_only=True)
class Activator:
    """Starts a process whenever somebody connects to `path` and none runs; `exits` are the codes with which they ended."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    exits: list[int] = field(default_factory=list)
    process: Process | None = None
    _changes: Changes = field(default_factory=Changes)

    def listen(self, path: Path, *program: str) -> None:
        """Hold the socket from now on, and start `python -m program` with the variables of `environment`."""
        self.path, self._program = path, program
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(64)
        self._closing_read, self._closing_write = os.pipe()
        self._starting, self._is_ending = threading.Lock(), False
        self._thread = threading.Thread(target=self._supervise)
        self._thread.start()

    @property
    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a process."""
        return {**os.environ, "LISTEN_FDS": "1", **self.environment}

    def start(self, log: IO[bytes]) -> Process:
        """Start the process for whoever has connected."""
        return self.spawn(stdout=log, stderr=log)

    def spawn(self, **options: Any) -> subprocess.Popen[bytes]:
        """Start one process by hand."""
        descriptor = self.listener.fileno()
        return subprocess.Popen(
            [sys.executable, "-c", _START, str(descriptor), *self._program],
            pass_fds=[descriptor],
            env=self.variables,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            **options,
        )

    def end(self, seconds: float = DEADLINE) -> bool:
        """End the process and close the socket; False if the process had to be killed."""
        with self._starting:
            self._is_ending = True
        os.write(self._closing_write, b"x")
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
        self._thread.join(seconds)
        ended = not self._thread.is_alive()
        if not ended and self.process is not None:
            self.process.kill()
            self._thread.join(DEADLINE)
        self.listener.close()
        os.close(self._closing_read)
        os.close(self._closing_write)
        return ended

    def has_ended(self, code: int) -> None:
        """Take notice of the end of a process; the next one starts when somebody connects, or waits still."""
        self.exits.append(code)
        self._changes.tell()

    def wait_ended(self, count: int = 1) -> None:
        """Wait until so many processes have ended."""
        what = f"{count} processes have ended"
        self._changes.wait(lambda: len(self.exits) >= count, what, lambda: f"{self.exits}\n{self.log}")

    def _supervise(self) -> None:
        with (self.folder / "log").open("ab") as log:
            while True:
                waited: list[socket.socket | int] = [self.listener, self._closing_read]
                readable, _, _ = select.select(waited, [], [])
                if self._closing_read in readable:
                    return
                # A process of which `end` knows nothing would be told by nobody that it is to end.
                with self._starting:
                    if self._is_ending:
                        return
                    self.process = self.start(log)
                self.has_ended(self.process.wait())
