"""Copies that programs put beside a file when two devices changed it: Syncthing, Dropbox and the like, and the journal itself."""

import re

_COPY = re.compile(r"(?: \([^()/]*conflicted copy[^()/]*\)|\.(?:sync-)?conflict-[^/]+?)(?=\.[^./]+$)", re.IGNORECASE)


def original_of(path: str) -> str | None:
    """Return the path of the file that this one is a copy of, None if it is no such copy."""
    original = _COPY.sub("", path)
    return None if original == path else original
