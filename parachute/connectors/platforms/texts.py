"""Texts of others as they may be handed over: whole characters, no control characters, bounded."""

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IN_NAMES = re.compile(r"[\x00-\x1f\x7f/\\\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TEXT = 100_000
_NAME = 200
_QUOTED = 300


def clean(text: str, limit: int = _TEXT) -> str:
    """A text without halves of characters, which no file and no database takes."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL.sub("", whole)[:limit]


def quoted(text: str) -> str:
    """The beginning of a text on one line, to say what somebody answers."""
    whole = " ".join(clean(text).split())
    return whole if len(whole) <= _QUOTED else f"{whole[: _QUOTED - 1].rstrip()}…"


def file_name(text: str) -> str:
    """The name of a file without folders, and without characters that turn what is read around."""
    return _IN_NAMES.sub("_", clean(text, _NAME)).strip(". ") or "file"
