"""Parts of a text: paragraphs, or what is said about one thing in them, each with the place where it begins."""

import re
from collections.abc import Iterator

from msgspec import Struct

_WHOLE, _LONGEST, _SHORTEST = 320, 180, 60
"""Letters of a text that is one part, and of a part of a longer one, by the labelled questions.

The mean of many sentences is near to everything and to nothing; a few words alone say too little.
"""
_MOST = 4_000
_PARAGRAPH = re.compile(r"\n\s*\n|\f|\n(?=#{1,6} )")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\n")  # noqa: RUF001 - ends of sentences


class Part(Struct, frozen=True):
    """A piece of a text and the offset of its first letter."""

    offset: int
    text: str


_DATE = re.compile(r"\d{4}-\d\d-\d\d\n")


def parts_of(text: str) -> list[Part]:
    """The parts of a text in their order; none where there are no words. A first line that is a date means nothing by itself."""
    begins = date.end() if (date := _DATE.match(text)) else 0
    if len(text) <= _WHOLE and "\f" not in text:
        return [Part(each.offset, " ".join(each.text.split())) for each in _stripped(Part(0, text), begins, len(text))]
    found: list[Part] = []
    for paragraph in _pieces(Part(begins, text[begins:]), _PARAGRAPH):
        begun: Part | None = None
        for sentence in _pieces(paragraph, _SENTENCE):
            for piece in _cut(sentence):
                end = piece.offset + len(piece.text)
                if begun is not None and end - begun.offset <= _LONGEST:
                    begun = Part(begun.offset, text[begun.offset : end])
                    continue
                if begun is not None:
                    found.append(begun)
                begun = piece
        if begun is not None:
            found.append(begun)
        if len(found) >= _MOST:
            break
    return [Part(each.offset, " ".join(each.text.split())) for each in _joined(text, found)[:_MOST]]


def _pieces(whole: Part, between: re.Pattern[str]) -> Iterator[Part]:
    start = 0
    for gap in between.finditer(whole.text):
        yield from _stripped(whole, start, gap.start())
        start = gap.end()
    yield from _stripped(whole, start, len(whole.text))


def _stripped(whole: Part, start: int, end: int) -> Iterator[Part]:
    piece = whole.text[start:end]
    if said := piece.strip():
        yield Part(whole.offset + start + len(piece) - len(piece.lstrip()), said)


def _cut(sentence: Part) -> Iterator[Part]:
    """A sentence, in pieces if it is very long: at a blank where there is one."""
    rest = sentence
    while len(rest.text) > _LONGEST:
        at = rest.text.rfind(" ", 1, _LONGEST)
        at = at if at > 0 else _LONGEST
        yield Part(rest.offset, rest.text[:at])
        left = rest.text[at:]
        rest = Part(rest.offset + at + len(left) - len(left.lstrip()), left.strip())
    if rest.text:
        yield rest


def _joined(text: str, parts: list[Part]) -> list[Part]:
    """Let a heading, or another line of few words, begin the part that follows it."""
    found: list[Part] = []
    for part in parts:
        before = found[-1] if found else None
        if before is not None and len(before.text) < _SHORTEST and "\f" not in text[before.offset : part.offset]:
            found[-1] = Part(before.offset, text[before.offset : part.offset + len(part.text)])
        else:
            found.append(part)
    return found
