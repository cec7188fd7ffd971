"""Removing the files that were being written when their program was killed or the disk was full."""

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from parachute.base.folders import Folder, TooMany

UNFINISHED = re.compile(r"\..+\.[0-9a-f]{12}")
_MOST = 500_000
"""Entries that one search reads at most."""

_OF_OTHERS = frozenset(("modules", "attachments", ".git"))
"""Folders with what others have named: code of modules with its packages, files of people, repositories."""

_SETTLED_SECONDS = 60
"""Seconds without a change after which a writer counts as killed, or its card as broken."""


def remove_unfinished(folders: Iterable[Path], before: float) -> int:
    """Remove what was left behind below these folders before that moment (seconds since 1970); how many files.

    Nothing that somebody else made, and nothing but files; no link is followed.
    """
    count = 0
    for _, folder, name in _unfinished(folders, before):
        with contextlib.suppress(OSError):
            folder.remove(name)
            count += 1
    return count


def find_unfinished(folders: Iterable[Path], before: float) -> Iterator[Path]:
    """The files that `remove_unfinished` would remove."""
    return (place / name for place, _, name in _unfinished(folders, before))


def _unfinished(folders: Iterable[Path], before: float) -> Iterator[tuple[Path, Folder, str]]:
    left = _MOST
    for top in folders:
        with contextlib.suppress(OSError, TooMany), Folder.open(top) as root:
            for place, folder, entries in root.walk(most=left, unreadable=lambda *_: None):
                left -= len(entries)
                entries[:] = [entry for entry in entries if entry.name not in _OF_OTHERS]
                for entry in entries:
                    if UNFINISHED.fullmatch(entry.name) and _is_left(entry, before):
                        yield top / place, folder, entry.name


def _is_left(entry: "os.DirEntry[str]", before: float) -> bool:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
    return is_ours and status.st_mtime < before - _SETTLED_SECONDS
