"""A module whose host a real supervisor's launcher starts, watches and ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from msgspec import to_builtins

from parachute.modules.trees.hashing import copy_verified
from parachute.supervisor import units
from parachute.supervisor.logs import log_path
from parachute.supervisor.specifications.host import HostSpecification, module_folder
from tests.modules.host_process.activator import MANIFEST, Answer
from tests.modules.host_process.core import FakeCore
from tests.supervisor.launching import Launcher, launcher
from tests.support.activation import DEADLINE, UnixConnection


@dataclass(frozen=True)
class LaunchedModule:
    """One module and the launcher that has its unit, `unit`."""

    launcher: Launcher
    specification: HostSpecification
    path: Path

    @property
    def unit(self) -> str:
        return f"module@{self.specification.name}"

    @property
    def data(self) -> Path:
        return Path(self.specification.data)

    @property
    def log(self) -> Path:
        return log_path(self.launcher.home, self.unit)

    def request(self, method: str, path: str) -> Answer:
        """One request; error: OSError if the module does not answer."""
        connection = UnixConnection(self.path, DEADLINE)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        """GET."""
        return self.request("GET", path)

    async def process(self) -> psutil.Process:
        """Return the process that the launcher has started; the host is the last below that."""
        return psutil.Process((await self.launcher.unit(self.unit))["process"])


@contextmanager
def launched(name: str, module: str, **changes: Any) -> Iterator[LaunchedModule]:
    """A module in its sandbox for the length of a block; `changes` are fields of its specification. Await `open_unit` first."""
    with launcher() as running:
        root = running.home.root
        folder, place = module_folder(name, root), running.folder / "copy"
        source = running.folder / "source"
        data = root / "module-data" / name
        vault = running.folder / "vault"
        for path in (folder / "core", source, place / "packages", data, vault):
            path.mkdir(parents=True)
        (source / "manifest.yaml").write_text(MANIFEST.format(name=name))
        (source / "module.py").write_text(module)
        values = {
            "name": name,
            "hash": copy_verified(source, place / "code"),
            "code": str(place / "code"),
            "packages": str(place / "packages"),
            "data": str(data),
            "core_socket": str(folder / "core" / "core.sock"),
            "vault": str(vault),
            "read": (),
            "write": (),
            "memory": 256 << 20,
            "pids": 64,
            "idle_seconds": 600,
            "trust": "untrusted",
            "box": True,
        }
        specification = HostSpecification(**{**values, **changes})
        specification.save(folder / "spec.json")
        core = FakeCore(folder / "core" / "core.sock", {"/start": {}})
        try:
            yield LaunchedModule(running, specification, folder / "host.sock")
        finally:
            core.close()


async def open_unit(module: LaunchedModule, **changes: Any) -> None:
    """Open the unit as the supervisor makes it; `changes` are fields of it."""
    unit = {
        **to_builtins(units.by_name(module.launcher.home, module.unit), enc_hook=str),
        "confinement": None,
        **changes,
    }
    program, option, child, _, *arguments = unit["command"]
    command = [program, option, child, str(module.launcher.process.pid), *arguments]
    await module.launcher.ask("open_unit", unit={**unit, "command": command, "listen": [str(module.path)]})
