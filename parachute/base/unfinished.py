"""Files that are being written: their names, and removing those that a killed program or a full disk has left behind."""

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

UNFINISHED = re.compile(r"\..+\.[0-9a-f]{12}")
_MOST = 500_000
"""Entries that one look reads at the most."""

_OF_OTHERS = frozenset(("modules", "attachments", ".git"))
"""Folders with what others have named: code of modules with its packages, files of people, repositories."""

_SETTLED_SECONDS = 60
"""Whoever writes a file for longer than this before the next change of it has been killed, or its card is broken."""


def unfinished_name(name: str) -> str:
    """The name under which `name` is written until it is complete, in the same folder."""
    return f".{name[:60]}.{secrets.token_hex(6)}"


def remove_unfinished(folders: Iterable[Path], before: float) -> int:
    """Remove what was left behind below these folders before that moment (seconds since 1970); how many files.

    Nothing that somebody else made, and nothing but files; no link is followed.
    """
    count = 0
    for path in find_unfinished(folders, before):
        with contextlib.suppress(OSError):
            path.unlink()
            count += 1
    return count


def find_unfinished(folders: Iterable[Path], before: float) -> Iterator[Path]:
    """What `remove_unfinished` would remove."""
    left = _MOST
    for folder in folders:
        for place, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if name not in _OF_OTHERS]
            left -= len(names) + 1
            if left < 0:
                return
            for name in filter(UNFINISHED.fullmatch, names):
                path = Path(place, name)
                with contextlib.suppress(OSError):
                    if _is_left(path.lstat(), before):
                        yield path


def _is_left(status: os.stat_result, before: float) -> bool:
    is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
    return is_ours and status.st_mtime < before - _SETTLED_SECONDS
