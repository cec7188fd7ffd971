"""The limit on disk of folders of ours in which anything in a sandbox can write: of transcripts, and of caches."""

import errno
from os import DirEntry
from pathlib import Path

from parachute.base.folders import Folder, TooMany

_ENTRIES = 10_000
"""Files and folders; so many count as too much, since reading them takes long."""


def is_over(folder: Path, limit: int, *, entries: int = _ENTRIES) -> bool:
    """True if a folder's content takes more than `limit` bytes on disk, or is more `entries`; links are not followed."""
    left = limit
    try:
        with Folder.open(folder.parent) as above, above.folder(folder.name) as root:
            for _, _, found in root.walk(most=entries, unreadable=_passed_over):
                for entry in found:
                    if not entry.is_dir(follow_symlinks=False):
                        # What is really on the disk: a file may say that it is long and hold nothing.
                        left -= _blocks(entry) * 512
                if left < 0:
                    return True
    except TooMany:
        return True
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def _passed_over(_: str, error: OSError) -> None:
    # Removed meanwhile, or shut to us: what cannot be read cannot be measured. But nobody needs folders so deep.
    if error.errno == errno.ENAMETOOLONG:
        raise error


def _blocks(entry: "DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks
    except OSError:
        return 0
