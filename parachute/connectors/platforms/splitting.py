"""Splitting of a long answer into messages: between paragraphs, at lines, at words, and code blocks as rarely as can be."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator

from msgspec import Struct

Length = Callable[[str], int]

_FENCE = re.compile(r"[ \t>]*(`{3,}(?=[^`]*$)|~{3,})(.*)")
_WORD_END = re.compile(r".*[\s]", re.DOTALL)
_OPENING_LIMIT = 60
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


def units(text: str) -> int:
    """Count a text as the messengers do that count the most: in units of UTF-16."""
    return len(text) + sum(character > "\uffff" for character in text)


def split(markdown: str, limit: int, length: Length = units) -> list[str]:
    """Split a text into messages of at most `limit`, none of them empty; `length` measures what a message will be.

    A code block that does not fit into the rest of a message begins the next one, and one that fits into no message is closed
    and opened again at a line. A cut depends on nothing that stands in later messages: while a text grows, all but the last two
    stay as they are.
    """
    parts: list[str] = []
    part = ""
    for block in _blocks(markdown):
        if length(joined := f"{part}\n{block.text}" if part else block.text) <= limit:
            part = joined
            continue
        parts.append(part)
        *whole, part = _pieces(block, limit, length)
        parts += whole
    return [trimmed for part in (*parts, part) if (trimmed := _trimmed(part))]


def _trimmed(part: str) -> str:
    return re.sub(r"\A(?:[ \t]*\n)+", "", part).rstrip()


class _Block(Struct, frozen=True):
    text: str
    opening: str = ""
    closing: str = ""


def _blocks(markdown: str) -> Iterator[_Block]:
    """Paragraphs with the empty line after them, and code blocks; joined by line ends they are the text."""
    lines: list[str] = []
    opening = closing = ""
    for line in markdown.replace("\r\n", "\n").split("\n"):
        fence = _FENCE.fullmatch(line)
        if closing:
            lines.append(line)
            if fence and fence[1].startswith(closing) and not fence[2].strip():
                yield _Block("\n".join(lines), opening, closing)
                lines, closing = [], ""
        elif fence:
            if lines:
                yield _Block("\n".join(lines))
            lines, closing = [line], fence[1]
            opening = line if len(line) <= _OPENING_LIMIT else closing
        else:
            lines.append(line)
            if not line.strip():
                yield _Block("\n".join(lines))
                lines = []
    if closing:
        yield _Block(
            "\n".join((*lines, closing)), opening, closing
        )  # what is still being written shows as code already
    elif lines:
        yield _Block("\n".join(lines))


def _pieces(block: _Block, limit: int, length: Length) -> list[str]:
    """Split a block that is too long for what was left of a message; one piece if it fits into a whole one."""
    if length(block.text) <= limit:
        return [block.text]
    lines = block.text.split("\n")
    before = after = ""
    if block.closing:
        before, after = f"{block.opening}\n", f"\n{block.closing}"
        lines = lines[1:-1] if _FENCE.fullmatch(lines[-1]) else lines[1:]

    def measure(text: str) -> int:
        return length(f"{before}{text}{after}")

    pieces: list[str] = []
    piece: str | None = None
    for line in lines:
        joined = line if piece is None else f"{piece}\n{line}"
        if measure(joined) <= limit:
            piece = joined
            continue
        if piece is not None:
            pieces.append(piece)
        *cut, piece = _cut(line, limit, measure)
        pieces += cut
    return [f"{before}{each}{after}" for each in (*pieces, piece or "") if each.strip()] or [""]


def _cut(line: str, limit: int, length: Length) -> list[str]:
    pieces = []
    while length(line) > limit:
        # Markup may measure less than it has characters, and never so much less.
        most = bisect_right(range(1, min(len(line), 4 * limit)), limit, key=lambda end: length(line[:end])) or 1
        end = _end(line, most)
        pieces.append(line[:end].rstrip())
        line = line[end:]
    return [*pieces, line]


def _end(line: str, most: int) -> int:
    """Return the position for a cut: after a word if one ends in the second half, else not within what is drawn as one character."""
    if (word := _WORD_END.match(line[most // 2 : most])) is not None:
        return most // 2 + word.end()
    end = most
    while end > most // 2 and (line[end] in _JOINERS or line[end - 1] == "\u200d" or unicodedata.combining(line[end])):
        end -= 1
    return end if end > most // 2 else most
