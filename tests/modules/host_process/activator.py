"""Holds the socket of a module and starts its real process, as the supervisor does."""

import http.client
import json
import os
import select
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from parachute.modules.trees.hashing import copy_verified
from parachute.supervisor.specifications.host import HostSpecification
from tests.modules.host_process.core import FakeCore
from tests.modules.host_process.prefork import fork_host
from tests.support.activation import DEADLINE, Activator, Process, UnixConnection
from tests.support.waiting import wait_until

LAUNCHER = "parachute.modules.host_process.launch"
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


@dataclass
class HostedModule(Activator):
    """One module with its folders, its sockets, its core, and the process that is started when somebody connects."""

    name: str
    files: dict[str, str | bytes]
    manifest: str | None = None
    box: bool = False
    program: str | None = None
    """Run by a new interpreter; None: the launcher for a sandbox, and otherwise the host itself, forked."""

    idle_seconds: float | None = 600
    answers: dict[str, Any] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="host-", dir="/var/tmp")), kw_only=True)

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
        self.environment = {"PARACHUTE_HOME": str(self.home), **self.environment}
        self.listen(run / "host" / "host.sock", self.program or LAUNCHER, self.name)

    def _changed(self) -> dict[str, Any]:
        """Paths of `read` and `write` are given within the vault."""
        changes = dict(self.changes)
        for name in ("read", "write"):
            changes[name] = tuple(str(self.vault / path) for path in changes.get(name, ()))
        return changes

    def start(self, log: IO[bytes]) -> Process:
        if self.box or self.program:
            return super().start(log)
        return fork_host(self.name, self.listener.fileno(), log.fileno(), self.variables)

    def has_ended(self, code: int) -> None:
        if code:
            # The supervisor would try again, later; those who wait get no answer. Before the exit is announced: after that a
            # test may connect again, and that connection is for the next process.
            while select.select([self.listener], [], [], 0)[0]:
                self.listener.accept()[0].close()
        super().has_ended(code)

    def close(self) -> None:
        """End the process, with what a hostile module has left behind, and remove everything."""
        self.end(DEADLINE / 4)
        if self.process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.core.close()
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
