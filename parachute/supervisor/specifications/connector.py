"""The specification of a connector's process: what it reaches on this computer."""

import re
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, read_regular
from parachute.config.settings.home import Home

NAME = r"[a-z][a-z0-9_]{0,19}"
_LIMIT = 16 * 1024


class ConnectorSpecification(Struct, frozen=True, forbid_unknown_fields=True):
    """The file `run/connector/{platform}/spec.json` of the state directory. All paths are absolute.

    `core_socket` is the server's socket for this connector; that of the egress proxy lies beside it. `files` is the folder that
    both share. `vault` is hidden from it. `memory` in bytes.
    """

    platform: str
    core_socket: str
    files: str
    vault: str
    memory: int
    pids: int

    def __post_init__(self) -> None:
        """Error: InvalidInput naming the first field that cannot be."""
        if not re.fullmatch(NAME, self.platform):
            raise InvalidInput(
                f"platform: {self.platform[:60]!r} cannot be the name of a platform.", key="platform_invalid"
            )
        for field, path in (("core_socket", self.core_socket), ("files", self.files), ("vault", self.vault)):
            if not path.startswith("/") or ".." in path.split("/") or "\0" in path or "\n" in path:
                raise InvalidInput(f"{field}: {path[:200]!r} is not an absolute path.", key="path_not_absolute")
        if not 16 << 20 <= self.memory <= 1 << 40 or not 1 <= self.pids <= 32768:
            raise InvalidInput("memory, pids: at least 16 MiB and one process are needed.", key="limits_too_small")

    def save(self, root: Path) -> None:
        """Write the file for the process that is started next."""
        atomic_write(specification_path(self.platform, root), msgspec.json.encode(self))

    @classmethod
    def load(cls, platform: str, root: Path | None = None) -> "ConnectorSpecification":
        """Read the file of a platform; error: InvalidInput if any field is missing, unknown or of the wrong type.

        `root` is the state directory, by default that of this process's environment.
        """
        path = specification_path(platform, root)
        try:
            specification = msgspec.json.decode(read_regular(path, _LIMIT), type=cls)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"{path} is not the specification of a connector: {error}.", key="specification_unreadable"
            ) from error
        if specification.platform != platform:
            raise InvalidInput(f"{path} belongs to another connector.", key="specification_of_other")
        return specification


def specification_path(platform: str, root: Path | None = None) -> Path:
    """The path of a connector's specification; error: InvalidInput for what cannot be a name."""
    return connector_folder(platform, root) / "spec.json"


def connector_folder(platform: str, root: Path | None = None) -> Path:
    """The folder of a connector's specification, sockets and files; error: InvalidInput for what cannot be a name."""
    if not re.fullmatch(NAME, platform):
        raise InvalidInput(f"platform: {platform[:60]!r} cannot be the name of a platform.", key="platform_invalid")
    # Not Home.find(): inside of a sandbox the state directory has nothing but what was mounted, and cannot be changed.
    return (root or Home.named().root).absolute() / "run" / "connector" / platform
