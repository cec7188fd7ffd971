"""Copies that programs put beside a file when two devices changed it: Syncthing, Obsidian Sync, Dropbox and the like, and the journal itself.

Of a copy of iCloud (`garden 2.md`) the name alone does not tell: a second chapter is called so, too.
"""

import re

_COPY = re.compile(
    r"(?: \([^()/]*(?:conflicted copy|in konflikt stehende kopie|konfliktkopie|copie en conflit|sfconflict)[^()/]*\)"
    r"|\.(?:sync-)?conflict-[^/]+?)(?=\.[^./]+$)|\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]{7}$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r" [2-9](?=\.[^./]+$)")


def original_of(path: str) -> str | None:
    """Return the path of the file that this one is a copy of, None if it is no such copy."""
    original = _COPY.sub("", path)
    return None if original == path or original.endswith("/") or not original else original


def numbered_of(path: str) -> str | None:
    """Return the path of the file that this one may be iCloud's copy of, None if its name has no such number."""
    original = _NUMBERED.sub("", path)
    return None if original == path else original
