"""Names of files that an import brings into the vault: plain, short, and none that means something to an agent."""

import re
import unicodedata

_BAD = re.compile(r"[\x00-\x1f\x7f/\\\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_BYTES = 200


def plain(part: str) -> str:
    """One part of a path, as it may stand in the vault; never empty, hidden or long."""
    text = unicodedata.normalize("NFC", part.encode("utf-8", "replace").decode())
    text = _BAD.sub("-", text).strip().lstrip(".").strip()
    stem, dot, ending = text.rpartition(".")
    if not dot or len(ending) > 10:
        stem, ending = text, ""
    while len(f"{stem}.{ending}".encode()) > _BYTES:
        stem = stem[:-1]
    return (f"{stem}.{ending}" if ending else stem) or "unnamed"
