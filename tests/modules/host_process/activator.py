"""Holds the socket of a module and starts its real process, as the supervisor does."""

import http.client
import json
import os
import select
import shutil
import signal
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
from typing import Any

from parachute.modules.hashing import copy_verified
from parachute.supervisor.host_specification import HostSpecification
from tests.host.core import FakeCore

DEADLINE = 60.0
# The listening socket becomes descriptor 3, and the process id stays the same across exec: what systemd does.
_START = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.execv(sys.executable, [sys.executable, "-m", *sys.argv[2:]])
"""

MANIFEST = """\
name: {name}
version: 1.0.0
module: module.py
"""


@dataclass(frozen=True)
class Answer:
    """A whole response."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    def events(self) -> list[Any]:
        """The values of a stream."""
        return [json.loads(part.removeprefix("data: ")) for part in self.body.decode().split("\n\n") if part]


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Poll until a condition holds; fail after the deadline."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.01)


class UnixConnection(http.client.HTTPConnection):
    """HTTP over the socket."""

    def __init__(self, path: Path, timeout: float = DEADLINE) -> None:
        super().__init__("module", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


@dataclass
class HostedModule:
    """One module with its folders, its sockets, its core, and the process that is started when somebody connects."""

    name: str
    files: dict[str, str | bytes]
    manifest: str | None = None
    box: bool = False
    program: str = "parachute.host.launch"
    idle_seconds: float | None = 600
    answers: dict[str, Any] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="host-", dir="/var/tmp")))
    exits: list[int] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.home = self.folder / "home"
        self.vault = self.folder / "vault"
        self.source = self.folder / "source"
        run = self.home / "run" / "module" / self.name
        for path in (run / "host", run / "core", self.home / "module-data" / self.name, self.vault, self.source):
            path.mkdir(parents=True)
        written = {"manifest.yaml": self.manifest or MANIFEST.format(name=self.name), **self.files}
        for name, content in written.items():
            path = self.source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.place = self.home / "modules" / self.name / "copy"
        self.place.mkdir(parents=True)
        self.packages = self.place / "packages"
        self.packages.mkdir()
        self.code = self.place / "code"
        values = {
            "name": self.name,
            "hash": copy_verified(self.source, self.code),
            "code": str(self.code),
            "packages": str(self.packages),
            "data": str(self.home / "module-data" / self.name),
            "core_socket": str(run / "core" / "core.sock"),
            "vault": str(self.vault),
            "read": (),
            "write": (),
            "memory": 256 << 20,
            "pids": 64,
            "idle_seconds": self.idle_seconds,
            "trust": "trusted",
            "box": self.box,
        }
        self.specification = HostSpecification(**{**values, **self._changed()})
        self.specification.save(run / "spec.json")
        self.core = FakeCore(run / "core" / "core.sock", self.answers)
        self.path = run / "host" / "host.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(64)
        self._closing_read, self._closing_write = os.pipe()
        self._thread = threading.Thread(target=self._supervise)
        self._thread.start()

    def _changed(self) -> dict[str, Any]:
        """Paths of `read` and `write` are given within the vault."""
        changes = dict(self.changes)
        for name in ("read", "write"):
            changes[name] = tuple(str(self.vault / path) for path in changes.get(name, ()))
        return changes

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def _supervise(self) -> None:
        with (self.folder / "log").open("ab") as log:
            while True:
                readable, _, _ = select.select([self.listener, self._closing_read], [], [])
                if self._closing_read in readable:
                    return
                self.process = self.spawn(stdout=log, stderr=log)
                code = self.process.wait()
                self.exits.append(code)
                if code:
                    # The supervisor would try again, later; those who wait are told.
                    while select.select([self.listener], [], [], 0)[0]:
                        self.listener.accept()[0].close()

    def spawn(self, **options: Any) -> subprocess.Popen[bytes]:
        """Start one process by hand."""
        descriptor = self.listener.fileno()
        environment = {**os.environ, "LISTEN_FDS": "1", "PARACHUTE_HOME": str(self.home), **self.environment}
        return subprocess.Popen(
            [sys.executable, "-c", _START, str(descriptor), self.program, self.name],
            pass_fds=[descriptor],
            env=environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            **options,
        )

    def close(self) -> None:
        """End the process and remove everything."""
        os.write(self._closing_write, b"x")
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
        self._thread.join(DEADLINE / 4)
        ended = not self._thread.is_alive()
        if not ended and self.process is not None:
            self.process.kill()
            self._thread.join(DEADLINE)
        if self.process is not None:
            # What a hostile module has left behind, where no box ends it.
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        self.listener.close()
        self.core.close()
        os.close(self._closing_read)
        os.close(self._closing_write)
        shutil.rmtree(self.folder)

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, timeout: float = DEADLINE
    ) -> Answer:
        """One request, with a JSON body unless it is bytes; the answer is read to its end."""
        connection = UnixConnection(self.path, timeout)
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, {"content-type": "application/json", **(headers or {})})
            response = connection.getresponse()
            answered = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, answered, response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        """GET."""
        return self.request("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        """POST."""
        return self.request("POST", path, body)

    def failure(self) -> str:
        """Connect, wait for the process to end, and return what it said."""
        count = len(self.exits)
        try:
            answer = self.get("/_parachute/health")
        except (OSError, http.client.HTTPException):
            pass
        else:
            assert answer.status >= 400, f"it answered {answer}"
        wait_until(lambda: len(self.exits) > count, "the process ends")
        return self.log


@contextmanager
def hosted(name: str, module: str, **options: Any) -> Iterator[HostedModule]:
    """A module for the length of a block; `files` are those beside module.py."""
    files = {"module.py": module, **options.pop("files", {})}
    running = HostedModule(name, files, **options)
    try:
        yield running
    finally:
        running.close()
