"""Passages of a text file: its lines with the words, the entries of the journal that they are in, and the file without them."""

import hashlib
import re
from collections.abc import Iterator

from msgspec import Struct

from parachute.ops.forget import recognizing
from parachute.ops.forget.models import FileChoices
from parachute.ops.forget.words import Words

_ENTRY = re.compile(rb"# para:\S+", re.IGNORECASE)
_HEADING = re.compile(rb"# ")
_LONGEST = 300


class Passage(Struct, frozen=True):
    """A line with the words: its text around them, its hash, and the heading of its entry, empty where it is in none."""

    text: str
    hash: str
    entry: str


def passages(data: bytes, words: Words) -> Iterator[Passage]:
    """Find the lines, in order; words that continue on the next line are of both."""
    for line, entry in _lines(data, words):
        if entry is not None:
            yield Passage(shown(line, words), _hash(line), entry)


def without(data: bytes, words: Words, choices: FileChoices) -> bytes:
    """The text without what was chosen; a file that is JSON stays it, and loses the words alone."""
    is_json = recognizing.is_json(data)
    lines, gone, left = set(choices.lines), set(choices.entries), []
    is_gone = False
    for line, found in _lines(data, words):
        if _HEADING.match(line):
            is_gone = _heading(line) in gone
        if not is_gone and not (found is not None and _hash(line) in lines):
            left.append(line)
        elif is_json:
            left.append(words.blanked(line))
    return b"".join(left)


def shown(data: bytes, words: Words) -> str:
    """The text around the words."""
    start, _ = next(words.spans(data), (0, 0))
    begin = max(0, start - _LONGEST // 3)
    text = data[begin : begin + _LONGEST].decode(errors="ignore")
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _lines(data: bytes, words: Words) -> Iterator[tuple[bytes, str | None]]:
    """Each line, with the heading of its entry where it has the words, and else None."""
    spans, place, entry = list(words.spans(data)), 0, ""
    for line in data.splitlines(keepends=True):
        if _HEADING.match(line):
            entry = _heading(line) if _ENTRY.match(line) else ""
        end = place + len(line)
        yield line, entry if any(a < end and b > place for a, b in spans) else None
        place = end


def _heading(line: bytes) -> str:
    found = _ENTRY.match(line)
    return found[0].decode(errors="replace") if found else ""


def _hash(line: bytes) -> str:
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()[:24]
