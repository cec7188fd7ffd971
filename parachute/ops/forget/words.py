"""The words to be forgotten, found in bytes: in any case and form in which files, records and addresses write them."""

import json
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote

from parachute.base.errors import InvalidInput
from parachute.core.full_text import is_run, searchable
from parachute.ops.forget import recognizing

_FEWEST, _MOST = 3, 200
_BETWEEN = rb"(?:[\s\x1e\x1f_+\-]|%20|\\+[nrt]|\xc2\xa0|\\+u00a0){1,12}"
_ESCAPES = (b"\\n", b"\\r", b"\\t", b"\\b", b"\\f")
_ESCAPED = re.compile(rb"(?:\\u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2}))\Z")
_ESCAPE_OF_FOUR = re.compile(rb"\\u[0-9a-fA-F]{4}")
_ESCAPING = b"nrtbf"
_MARKS = ("Mn", "Mc")
_EDGE, _CONSONANT = "\x1e", "\u0e01"
"""Around a run in an index, and a letter that has marks."""
BLANK = b"_"
"""The sign in the place of each byte that was removed, of numbers without a letter a digit: it is itself in JSON, YAML, addresses and names."""


class Words:
    """Words that stand next to each other, whole ones only. Error: InvalidInput for what is too short, too long, a date, or no words."""

    def __init__(self, typed: str) -> None:
        parts = unicodedata.normalize("NFC", typed).split()
        self.text = " ".join(parts)
        # Of scripts without spaces two letters are a word.
        letters = sum(1 + is_run(each) for each in self.text if each.isalnum())
        if not self.text.isprintable() or not _FEWEST <= letters <= _MOST:
            raise InvalidInput(
                f"words: {_FEWEST} to {_MOST} letters are needed.",
                "Name the words as they were written.",
                key="words_length",
            )
        recognizing.check(self.text)
        self._pattern = re.compile(_BETWEEN.join(map(_word, parts)), re.IGNORECASE)
        self._begins, self._ends = map(_is_of_a_word, (self.text[0], _letters(parts[-1])[-1][0]))
        # A number that a text has as JSON has to stay one.
        digit = b"2" if set(self.text) & set("123456789") == {"1"} else b"1"
        self._digit = None if any(map(str.isalpha, self.text)) else digit

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """The places of the words."""
        for match in self._pattern.finditer(data):
            start, end = match.span()
            if (
                not (self._begins and _letter_before(data, start))
                and not (self._ends and _letter_after(data, end))
                and not _ESCAPE_OF_FOUR.match(data, max(0, start - 1))
                and not recognizing.is_part(data, start, end)
            ):
                yield start, end

    def are_in(self, data: bytes | str) -> bool:
        """Return whether they are there."""
        return next(self.spans(_bytes(data)), None) is not None

    def blanked(self, data: bytes) -> bytes:
        """The same without them, and as long as before: what knows places in it still finds them, and JSON stays JSON.

        A number that JSON has outside of texts stays.
        """
        found = bytearray(data)
        for start, end in recognizing.in_texts(data, list(self.spans(data))):
            is_escaped = data[start - 1 : start] == b"\\" and data[start : start + 1] in _ESCAPING
            for place in range(start + is_escaped, end):
                found[place : place + 1] = self._sign(data[place : place + 1])
        return bytes(found)

    def _sign(self, byte: bytes) -> bytes:
        # An end of a line may end a record.
        if byte in b"\r\n":
            return byte
        return self._digit if self._digit and byte.isdigit() else BLANK

    def blanked_text(self, text: str) -> str:
        """The same of a text."""
        return self.blanked(_bytes(text)).decode(errors="surrogatepass")


def _bytes(data: bytes | str) -> bytes:
    return data if isinstance(data, bytes) else data.encode(errors="surrogatepass")


def _letters(word: str) -> list[str]:
    """Divide a word into letters, each with its marks."""
    found: list[str] = []
    for each in word:
        if found and unicodedata.category(each) in _MARKS:
            found[-1] += each
        else:
            found.append(each)
    return found


def _is_of_a_word(letter: str) -> bool:
    """Return whether letters on both sides make another word of it; scripts without spaces stand beside any."""
    return letter.isalnum() and not is_run(letter)


def _word(word: str) -> bytes:
    """The pattern of a word. Of a script without spaces an index has each letter twice, see `parachute.core.full_text`."""
    letters = _letters(word)
    forms = [b"".join(map(_letter, letter)) for letter in letters]
    twice = [
        b"(?:\x1f%b)?" % form if is_run(letter) and place else b""
        for place, (letter, form) in enumerate(zip(letters, forms, strict=True))
    ]
    return b"".join(form + again for form, again in zip(forms, twice, strict=True))


def _letter(letter: str) -> bytes:
    if letter.isascii() and letter.isalnum():
        return letter.encode()
    forms: dict[bytes, None] = {}
    for each in (letter, letter.lower(), letter.upper(), _indexed(letter)):
        for form in ("NFC", "NFD"):
            written = unicodedata.normalize(form, each)
            for text in (written, json.dumps(written)[1:-1], quote(written, safe="")):
                forms[text.encode()] = None
    escaped = (re.escape(each) for each in sorted(forms, key=len, reverse=True))
    # JSON in JSON has its backslashes twice.
    return b"(?:%b)" % b"|".join(
        each.replace(rb"\\", rb"\\+", 1) if each.startswith(rb"\\") else each for each in escaped
    )


def _indexed(letter: str) -> str:
    """The letter or mark as an index stores it."""
    if unicodedata.category(letter) not in _MARKS:
        return searchable(letter).strip(_EDGE)
    return searchable(_CONSONANT + letter).strip(_EDGE).removeprefix(_CONSONANT)


def _letter_before(data: bytes, start: int) -> bool:
    before = data[max(0, start - 6) : start]
    if before[-2:] in _ESCAPES:
        return False
    if (escaped := _ESCAPED.search(before)) is not None:
        return _is_of_a_word(chr(int(escaped[1] or escaped[2], 16)))
    for length in range(1, 5):
        try:
            return _is_of_a_word(before[-length:].decode())
        except UnicodeDecodeError:
            continue
    return False


def _letter_after(data: bytes, end: int) -> bool:
    return _is_of_a_word(data[end : end + 4].decode(errors="ignore")[:1])
