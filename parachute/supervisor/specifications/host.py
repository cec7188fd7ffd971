"""The specification of a module's process: its program and its permissions."""

import os
import re
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, read_regular

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_LIMIT = 256 * 1024

Trust = Literal["verified", "trusted", "untrusted"]


class HostSpecification(Struct, frozen=True, forbid_unknown_fields=True):
    """The file `run/module/{name}/spec.json` of the state directory. All paths are absolute.

    `code` and `packages` are the verified copies, `packages_hash` may be missing when there are none. `read` and `write` lie
    in the `vault`. `memory` in bytes; `idle_seconds` None: the process never ends by itself. `dev`: the code runs in place and
    has no hash. `box`: whether it runs in bubblewrap; None: if that is installed. `network`: core has put a socket of the
    egress proxy next to its own. `programs`: the module may start other programs.
    """

    name: str
    hash: str
    code: str
    packages: str
    data: str
    core_socket: str
    vault: str
    read: tuple[str, ...]
    write: tuple[str, ...]
    memory: int
    pids: int
    idle_seconds: float | None
    trust: Trust
    packages_hash: str | None = None
    dev: bool = False
    box: bool | None = None
    network: bool = False
    programs: bool = False

    def __post_init__(self) -> None:
        """Error: InvalidInput naming the first field that cannot be."""
        if not _NAME.fullmatch(self.name):
            raise InvalidInput(f"name: {self.name[:60]!r} cannot be the name of a module.", key="name_invalid")
        if not self.dev and not _HASH.fullmatch(self.hash):
            raise InvalidInput("hash: `sha256:` and 64 digits are expected.", key="hash_invalid")
        if self.packages_hash is not None and not _HASH.fullmatch(self.packages_hash):
            raise InvalidInput("packages_hash: `sha256:` and 64 digits are expected.", key="packages_hash_invalid")
        for field, path in (
            ("code", self.code),
            ("packages", self.packages),
            ("data", self.data),
            ("vault", self.vault),
        ):
            _absolute(field, path)
        _absolute("core_socket", self.core_socket)
        for field, paths in (("read", self.read), ("write", self.write)):
            for path in paths:
                _absolute(field, path)
                if not Path(path).is_relative_to(self.vault) or Path(path) == Path(self.vault):
                    raise InvalidInput(f"{field}: {path} does not lie in the vault.", key="not_in_vault")
        if not 16 << 20 <= self.memory <= 1 << 40 or not 1 <= self.pids <= 32768:
            raise InvalidInput("memory, pids: at least 16 MiB and one process are needed.", key="limits_too_small")
        if self.idle_seconds is not None and not 0 < self.idle_seconds <= 86_400:
            raise InvalidInput("idle_seconds: more than 0 and at most a day is allowed.", key="idle_seconds_invalid")
        if self.trust not in get_args(Trust):
            raise InvalidInput(f"trust: one of {', '.join(get_args(Trust))} is allowed.", key="trust_invalid")

    def save(self, path: Path) -> None:
        """Write the file for the process that is started next."""
        atomic_write(path, msgspec.json.encode(self))

    @classmethod
    def load(cls, name: str, root: Path | None = None) -> "HostSpecification":
        """Read the file of a module; error: InvalidInput if any field is missing, unknown or of the wrong type.

        `root` is the state directory, by default that of this process's environment.
        """
        path = specification_path(name, root)
        try:
            specification = msgspec.json.decode(read_regular(path, _LIMIT), type=cls)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"{path} is not the specification of a module: {error}.", key="specification_unreadable"
            ) from error
        if specification.name != name:
            raise InvalidInput(f"{path} belongs to another module.", key="specification_of_other")
        return specification


def specification_path(name: str, root: Path | None = None) -> Path:
    """The path of a module's specification; error: InvalidInput for what cannot be a name."""
    return module_folder(name, root) / "spec.json"


def module_folder(name: str, root: Path | None = None) -> Path:
    """The folder of a running module's specification and sockets; error: InvalidInput for what cannot be a name."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"name: {name[:60]!r} cannot be the name of a module.", key="name_invalid")
    if root is None:
        # Not Home.find(): inside of a sandbox the state directory has nothing but what was mounted, and cannot be changed.
        configured = os.environ.get("PARACHUTE_HOME")
        root = Path(configured).expanduser() if configured else Path.home() / ".parachute"
    return root.absolute() / "run" / "module" / name


def _absolute(field: str, path: str) -> None:
    if not path.startswith("/") or ".." in path.split("/") or "\0" in path or "\n" in path:
        raise InvalidInput(f"{field}: {path[:200]!r} is not an absolute path.", key="path_not_absolute")
