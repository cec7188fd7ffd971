"""Words of a command line: what the shell would make of quotes, braces, tildes and wildcards."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from parachute.errors import NotAllowed

# More than a person or an agent writes by hand; beyond it a line is refused, so that judging it stays quick.
WORD_LIMIT = 512


class Unparsable(NotAllowed):
    """The command line cannot be understood completely, so it does not run."""

    key = "unparsable_command"


class Kind(Enum):
    """How a piece of a word was written."""

    BARE = "bare"
    QUOTED = "quoted"
    UNKNOWN = "unknown"


Piece = tuple[Kind, str]
Pieces = tuple[Piece, ...]

UNKNOWN: Piece = (Kind.UNKNOWN, "")

_WILDCARDS = re.compile(r"[*?\[]")
_GLOB_ESCAPE = re.compile(r"([*?\[])")
_ESCAPES = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_SIMPLE_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_SEQUENCE = re.compile(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.(-?\d{1,3}))?")


@dataclass(frozen=True, slots=True)
class Word:
    """One argument: its text with unknown parts left out, and its pattern where the shell would still fill something in.

    `pattern` is in fnmatch form with literals escaped, and None for a word that is what it says; `glob` is the same with the
    unknown parts left out, None without a wildcard. `leading_unknown` says that the first letters are not known, so that it may be an option or any path; `shifts` that a variable put it there, beside
    or instead of other words, so that the place it stands at means nothing.
    """

    text: str
    pattern: str | None = None
    unknown: bool = False
    leading_unknown: bool = False
    shifts: bool = False
    glob: str | None = None

    @property
    def static(self) -> bool:
        """Whether the shell passes exactly `text`."""
        return self.pattern is None


def unescape(text: str) -> str:
    """Return the text with the escapes of `$'...'`, `echo -e` and `printf` replaced."""

    def replace(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "xuU" and len(code) > 1:
            number = int(code[1:], 16)
            return chr(number) if number < 0x110000 else "\ufffd"
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        if code[0] == "c" and len(code) == 2:
            return chr(ord(code[1].upper()) & 0x1F)
        return _SIMPLE_ESCAPES.get(code, code if code in "\\'\"?" else "\\" + code)

    return _ESCAPES.sub(replace, text)


def bare_pieces(text: str) -> list[Piece]:
    """Return unquoted source text as pieces, a letter behind a backslash being quoted."""
    if "\\" not in text:
        return [(Kind.BARE, text)]
    pieces: list[Piece] = []
    position = 0
    while (slash := text.find("\\", position)) >= 0:
        if slash > position:
            pieces.append((Kind.BARE, text[position:slash]))
        escaped = text[slash + 1 : slash + 2]
        if escaped != "\n":
            pieces.append((Kind.QUOTED, escaped or "\\"))
        position = slash + 2
    if position < len(text):
        pieces.append((Kind.BARE, text[position:]))
    return pieces


def expand_braces(pieces: Pieces) -> list[Pieces]:
    """Return the words that `{a,b}` and `{1..3}` make of one word."""
    if not any(kind is Kind.BARE and "{" in text for kind, text in pieces):
        return [pieces]
    cells: list[Piece] = []
    for kind, text in pieces:
        if kind is Kind.BARE:
            cells.extend((kind, letter) for letter in text)
        else:
            cells.append((kind, text))
    return [_join(word) for word in _expand_cells(cells)]


def _join(cells: Sequence[Piece]) -> Pieces:
    joined: list[Piece] = []
    for kind, text in cells:
        if joined and joined[-1][0] is kind and kind is not Kind.UNKNOWN:
            joined[-1] = (kind, joined[-1][1] + text)
        else:
            joined.append((kind, text))
    return tuple(joined)


def _expand_cells(cells: list[Piece]) -> list[list[Piece]]:
    for start, cell in enumerate(cells):
        if cell != (Kind.BARE, "{"):
            continue
        found = _alternatives(cells, start)
        if found is None:
            continue
        end, alternatives = found
        tails = _expand_cells(cells[end + 1 :])
        words = [
            [*cells[:start], *middle, *tail]
            for alternative in alternatives
            for middle in _expand_cells(alternative)
            for tail in tails
        ]
        if len(words) > WORD_LIMIT:
            raise Unparsable("The braces in the command stand for too many words.", "Write the words out.")
        return words
    return [cells]


def _alternatives(cells: list[Piece], start: int) -> tuple[int, list[list[Piece]]] | None:
    depth = 0
    parts: list[list[Piece]] = [[]]
    for position in range(start, len(cells)):
        kind, text = cells[position]
        if kind is Kind.BARE and text == "{":
            depth += 1
            if depth == 1:
                continue
        elif kind is Kind.BARE and text == "}":
            depth -= 1
            if depth == 0:
                if len(parts) > 1:
                    return position, parts
                return _sequence(position, parts[0])
        elif kind is Kind.BARE and text == "," and depth == 1:
            parts.append([])
            continue
        parts[-1].append(cells[position])
    return None


def _sequence(end: int, cells: list[Piece]) -> tuple[int, list[list[Piece]]] | None:
    found = _SEQUENCE.fullmatch("".join(text if kind is Kind.BARE else "\0" for kind, text in cells))
    if found is None:
        return None
    first, last, step = found.groups()
    if first.lstrip("-").isdigit() != last.lstrip("-").isdigit():
        return None
    numbers = first.lstrip("-").isdigit()
    low, high = (int(first), int(last)) if numbers else (ord(first), ord(last))
    stride = max(1, abs(int(step or 1)))
    values = range(low, high + 1, stride) if low <= high else range(low, high - 1, -stride)
    if len(values) > WORD_LIMIT:
        raise Unparsable("The braces in the command stand for too many words.", "Write the words out.")
    return end, [[(Kind.BARE, str(value) if numbers else chr(value))] for value in values]


def expand_tilde(pieces: Pieces, user_home: str | None, folder: str) -> Pieces:
    """Return the word with a leading `~`, `~/`, `~user` or `~+` replaced by the folder it stands for.

    `user_home` is None when the command line changes it.
    """
    if not pieces or pieces[0][0] is not Kind.BARE or not pieces[0][1].startswith("~"):
        return pieces
    name, slash, rest = pieces[0][1].partition("/")
    if not slash and len(pieces) > 1:
        return pieces
    if name == "~" and user_home is not None:
        target = user_home
    elif name == "~+":
        target = folder
    elif name == "~" or name[1] in "-0123456789":
        return (UNKNOWN, (Kind.BARE, slash + rest), *pieces[1:])
    else:
        try:
            target = str(Path(name).expanduser())
        except RuntimeError:
            # No such user: the shell leaves the word as it is.
            return pieces
    return ((Kind.QUOTED, target), (Kind.BARE, slash + rest), *pieces[1:])


def to_word(pieces: Iterable[Piece], shifts: bool = False) -> Word:
    """Return the finished word."""
    text = pattern = glob = ""
    wild = unknown = leading = False
    for kind, piece in pieces:
        if kind is Kind.UNKNOWN:
            leading = leading or not text
            unknown = True
            pattern += "*"
            continue
        text += piece
        wild = wild or (kind is Kind.BARE and _WILDCARDS.search(piece) is not None)
        escaped = piece if kind is Kind.BARE else _GLOB_ESCAPE.sub(r"[\1]", piece)
        pattern += escaped
        glob += escaped
    return Word(text, pattern if wild or unknown else None, unknown, leading, shifts, glob if wild else None)
