"""Holds the socket and starts the offline model on demand, as a supervisor does; and a client for it."""

import http.client
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

DEADLINE = 60.0
MISSING_MODEL = "/nonexistent/model.gguf"
# The listening socket becomes descriptor 3, and the process id stays the same across exec: what systemd does.
_START = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.execv(sys.executable, [sys.executable, "-m", "parachute.offline"])
"""


@dataclass(frozen=True)
class Answer:
    """A whole response."""

    status: int
    headers: dict[str, str]
    document: dict[str, Any]


@dataclass(frozen=True)
class Event:
    """One server-sent event with both of its lines."""

    name: str
    data: dict[str, Any]


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Poll until a condition holds; fail after the deadline."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.01)


@dataclass
class Stream:
    """A streamed response, read as far as the test wants."""

    connection: http.client.HTTPConnection
    response: http.client.HTTPResponse

    def events(self) -> Iterator[Event]:
        """Every event, checked to consist of exactly the two lines that Anthropic sends."""
        while line := self.response.readline():
            name = line.decode()
            data = self.response.readline().decode()
            assert name.startswith("event: ")
            assert data.startswith("data: ")
            assert self.response.readline() == b"\n"
            yield Event(name.removeprefix("event: ").strip(), json.loads(data.removeprefix("data: ")))

    def close(self) -> None:
        """Go away, whatever is still to come."""
        # Both: the response keeps a file of its own on the socket.
        self.response.close()
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class UnixConnection(http.client.HTTPConnection):
    """HTTP over the socket."""

    def __init__(self, path: Path, timeout: float = DEADLINE) -> None:
        super().__init__("offline", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


@dataclass
class Activator:
    """Starts a process whenever somebody connects and none runs."""

    environment: dict[str, str]
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="offline-", dir="/tmp")))
    exits: list[int] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.path = self.folder / "model.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(64)
        self._closing_read, self._closing_write = os.pipe()
        self._thread = threading.Thread(target=self._supervise)
        self._thread.start()

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def _supervise(self) -> None:
        with (self.folder / "log").open("ab") as log:
            while True:
                readable, _, _ = select.select([self.listener, self._closing_read], [], [])
                if self._closing_read in readable:
                    return
                self.process = self.spawn(stderr=log)
                self.exits.append(self.process.wait())

    def spawn(self, **options: Any) -> subprocess.Popen[bytes]:
        """Start one process by hand."""
        descriptor = self.listener.fileno()
        environment = {**os.environ, "LISTEN_FDS": "1", **self.environment}
        return subprocess.Popen(
            [sys.executable, "-c", _START, str(descriptor)], pass_fds=[descriptor], env=environment, **options
        )

    def close(self) -> None:
        """End the process and remove everything."""
        os.write(self._closing_write, b"x")
        if self.process is not None and self._thread.is_alive():
            self.process.terminate()
        self._thread.join(DEADLINE / 4)
        ended = not self._thread.is_alive()
        if not ended and self.process is not None:
            self.process.kill()
            self._thread.join(DEADLINE)
        self.listener.close()
        os.close(self._closing_read)
        os.close(self._closing_write)
        shutil.rmtree(self.folder)
        assert ended, "the offline model does not end"

    def request(self, method: str, path: str, body: bytes | None = None, timeout: float = DEADLINE) -> Answer:
        """One request with a JSON response."""
        connection = UnixConnection(self.path, timeout)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, headers, json.loads(response.read()))
        finally:
            connection.close()

    def post(self, document: dict[str, Any], path: str = "/v1/messages?beta=true") -> Answer:
        """Ask without streaming."""
        return self.request("POST", path, json.dumps(document).encode())

    def stream(self, document: dict[str, Any]) -> Stream:
        """Ask with streaming; the caller closes it."""
        connection = UnixConnection(self.path)
        connection.request("POST", "/v1/messages?beta=true", json.dumps({**document, "stream": True}).encode())
        return Stream(connection, connection.getresponse())

    def health(self) -> dict[str, Any]:
        """What the process says about itself."""
        return self.request("GET", "/health").document


@contextmanager
def activated(**environment: str) -> Iterator[Activator]:
    """An activator for the length of a block; the variables get the prefix PARACHUTE_OFFLINE_."""
    activator = Activator({f"PARACHUTE_OFFLINE_{name.upper()}": value for name, value in environment.items()})
    try:
        yield activator
    finally:
        activator.close()


def question(text: str, **fields: Any) -> dict[str, Any]:
    """The smallest request."""
    return {"model": "claude-test", "max_tokens": 1024, "messages": [{"role": "user", "content": text}], **fields}
