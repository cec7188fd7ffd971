"""Files of a folder with their hashes, made again for those alone that have changed."""

import os
import re
import stat
import time
from collections.abc import Callable, Mapping

from msgspec import Struct, field

from parachute.base.clock import SYSTEM
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.pieces import hash_of
from parachute.base.signatures import signature_of
from parachute.security.permissions.paths import CONTROL
from parachute.security.permissions.vault_files import may_list

MOST = 200_000
"""Files and folders that are looked at; a folder with more is not synchronised."""

_DEEPEST = 64
_LONGEST = 1000
_SECONDS = 15.0
_PLACEHOLDER = re.compile(r"\.(.+)\.icloud")


class Found(Struct, frozen=True):
    """A file; `mark` differs after a change, and is empty where that cannot be relied on."""

    hash: str
    size: int
    mark: str


class Scan(Struct):
    """The files by their paths; `unread` are folders and files whose present state nobody knows, `is_cut` that the time was up before all were read."""

    files: dict[str, Found] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    is_cut: bool = False

    def knows(self, path: str) -> bool:
        """Return whether it is known of a path that is not among the files that no file is there."""
        parts = path.split("/")
        return not any("/".join(parts[:depth]) in self.unread for depth in range(len(parts) + 1))


def scan(root: Folder, known: Mapping[str, Found], elapsed: Callable[[], float] = SYSTEM.awake) -> Scan:
    """Look at every file that devices may read; links, hidden files and secrets are left out. Errors: TooMany, OSError of the root."""
    result = Scan()
    until = elapsed() + _SECONDS
    changed: list[str] = []
    walked = root.walk(
        deepest=_DEEPEST, most=MOST, unreadable=lambda path, error: result.unread.update({path: _reason(error)})
    )
    for place, _, entries in walked:
        prefix = f"{place}/" if place else ""
        result.unread |= {
            f"{prefix}{placeholder[1]}": "iCloud keeps it elsewhere; download it there"
            for entry in entries
            if (placeholder := _PLACEHOLDER.fullmatch(entry.name))
        }
        entries[:] = [entry for entry in entries if may_list(entry.name, hidden=False)]
        for entry in entries:
            path = f"{prefix}{entry.name}"
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError as error:
                result.unread[path] = _reason(error)
                continue
            if not stat.S_ISREG(status.st_mode):
                # What it stands for was not deleted: a folder that was moved to another disk, with a link in its place.
                if not stat.S_ISDIR(status.st_mode) and any(f"{each}/".startswith(f"{path}/") for each in known):
                    result.unread[path] = "it is a link, or no regular file"
                continue
            if CONTROL.search(path) or len(os.fsencode(path)) > _LONGEST:
                result.unread[path] = "its name cannot be used on every device"
                continue
            before = known.get(path)
            if before is not None and before.mark == mark_of(status):
                result.files[path] = before
            else:
                changed.append(path)
    for path in changed:
        if result.is_cut or elapsed() > until:
            result.is_cut = True
            result.unread[path] = "it is read later"
            continue
        try:
            if (found := look(root, path)) is not None:
                result.files[path] = found
        except (OSError, InvalidInput) as error:
            result.unread[path] = _reason(error)
    return result


def look(root: Folder, path: str) -> Found | None:
    """Read one file; None if none is there. Errors: OSError, InvalidInput for what is no regular file."""
    try:
        file = root.file(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with file:
        now, before = time.time_ns(), signature_of(os.fstat(file.fileno()))
        digest = hash_of(file)
        status = os.fstat(file.fileno())
    is_settled = signature_of(status) == before and before.differs_later(now)
    return Found(digest, status.st_size, mark_of(status) if is_settled else "")


def mark_of(status: os.stat_result) -> str:
    """The mark of a file in its present state."""
    return f"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_ino:x}-{status.st_size:x}"


def _reason(error: Exception) -> str:
    return error.strerror or "it cannot be read" if isinstance(error, OSError) else str(error)
