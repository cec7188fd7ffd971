"""Files that a server's command names: a part of what is approved, and run from a copy in the state directory."""

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.capabilities.mcp_servers.models import Server

_LIMIT = 128 * 1024 * 1024
_MOST = 20
_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc",
    "/dev",
    "/proc",
    "/sys",
)


class NamedFile(Struct, frozen=True):
    """A file as it was read."""

    path: str
    sha256: str
    content: bytes


class NamedFiles:
    """Reads them; what has not changed since is not read twice. `private` are folders of which none may lie in."""

    def __init__(self, private: Iterable[Path]) -> None:
        self._private = tuple(private)
        self._known: dict[str, tuple[Signature, str]] = {}

    def read(self, server: Server, folders: Iterable[str]) -> tuple[NamedFile, ...]:
        """The files with their content, but for those of the system and below `folders`; error: InvalidInput."""
        return tuple(self._read(path) for path in _paths(server, folders))

    def hashes(self, server: Server, folders: Iterable[str]) -> dict[str, str]:
        """SHA-256 of each by its path; error: InvalidInput."""
        found: dict[str, str] = {}
        for path in _paths(server, folders):
            known = self._known.get(path)
            try:
                same = known is not None and signature_of(Path(path).stat()) == known[0]
            except OSError:
                same = False
            found[path] = known[1] if known and same else self._read(path).sha256
        return found

    def _read(self, path: str) -> NamedFile:
        real = Path(path).resolve()
        if any(real.is_relative_to(folder) for folder in self._private):
            raise InvalidInput(
                f"{path} belongs to the computer's own data, which no MCP server is given.", key="computers_own"
            )
        try:
            # No link on the way any more: it could lead into what is private.
            with Folder.open_unlinked(real.parent) as folder:
                before = folder.status(real.name)
                content = folder.read(real.name, _LIMIT)
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.", key="file_unreadable") from error
        except InvalidInput as error:
            raise InvalidInput(f"{path} is not a file of up to {_LIMIT:,} bytes.", key="no_plain_file") from error
        sha256 = hashlib.sha256(content).hexdigest()
        if before is not None:
            self._known[path] = (signature_of(before), sha256)
        return NamedFile(path, sha256, content)


def keep(folder: Path, files: Iterable[NamedFile]) -> None:
    """Put a copy of each file into the folder, under its hash, and remove older ones; waits for the disk."""
    wanted = {file.sha256: file for file in files}
    private_folder(folder)
    for sha256, file in wanted.items():
        atomic_write(folder / sha256, file.content, 0o500)
    for left in folder.iterdir():
        if left.name not in wanted:
            left.unlink()


def copies(folder: Path, files: Mapping[str, str]) -> dict[str, Path]:
    """The copy of each file by its path, compared with its hash again; error: InvalidInput for one that differs."""
    found: dict[str, Path] = {}
    for path, sha256 in files.items():
        copy = folder / sha256
        try:
            is_right = hashlib.sha256(read_regular(copy, _LIMIT)).hexdigest() == sha256
        except (OSError, InvalidInput):
            is_right = False
        if not is_right:
            raise InvalidInput(
                f"The approved copy of {path} is damaged or gone.",
                "Approve the server again.",
                key="approved_copy_damaged",
            )
        found[path] = copy
    return found


def _paths(server: Server, folders: Iterable[str]) -> list[str]:
    outside = (*_SYSTEM, sys.base_prefix, *folders)
    found = [
        text
        for text in dict.fromkeys((server.command, *server.args))
        if text.startswith("/")
        and ".." not in text.split("/")
        and not any(Path(text).is_relative_to(folder) for folder in outside)
        and os.path.isfile(text)  # noqa: PTH113 - a text that is no path at all is no file either
    ]
    if len(found) > _MOST:
        raise InvalidInput(f"args: the command names more than {_MOST} files.", key="too_many_files")
    return found
