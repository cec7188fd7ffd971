"""The words to be forgotten, found in bytes: in any case and form in which files, records and addresses write them."""

import json
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote

from parachute.base.errors import InvalidInput
from parachute.ops.forget import recognizing

_FEWEST, _MOST = 3, 200
_BETWEEN = rb"(?:[\s_+\-]|%20|\\+[nrt]|\xc2\xa0|\\+u00a0){1,12}"
_ESCAPES = (b"\\n", b"\\r", b"\\t", b"\\b", b"\\f")
_ESCAPED = re.compile(rb"(?:\\u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2}))\Z")
_ESCAPE_OF_FOUR = re.compile(rb"\\u[0-9a-fA-F]{4}")
_ESCAPING = b"nrtbf"
BLANK = b"_"
"""The sign in the place of each byte that was removed, of numbers without a letter a digit: it is itself in JSON, YAML, addresses and names."""


class Words:
    """Words that stand next to each other, whole ones only. Error: InvalidInput for what is too short, too long, a date, or no words."""

    def __init__(self, typed: str) -> None:
        parts = unicodedata.normalize("NFC", typed).split()
        self.text = " ".join(parts)
        if not self.text.isprintable() or not _FEWEST <= sum(each.isalnum() for each in self.text) <= _MOST:
            raise InvalidInput(
                f"words: {_FEWEST} to {_MOST} letters are needed.",
                "Name the words as they were written.",
                key="words_length",
            )
        recognizing.check(self.text)
        self._pattern = re.compile(_BETWEEN.join(b"".join(map(_letter, part)) for part in parts), re.IGNORECASE)
        self._begins, self._ends = self.text[0].isalnum(), self.text[-1].isalnum()
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


def _letter(letter: str) -> bytes:
    if letter.isascii() and letter.isalnum():
        return letter.encode()
    forms: dict[bytes, None] = {}
    for each in (letter, letter.lower(), letter.upper()):
        for form in ("NFC", "NFD"):
            written = unicodedata.normalize(form, each)
            for text in (written, json.dumps(written)[1:-1], quote(written, safe="")):
                forms[text.encode()] = None
    escaped = (re.escape(each) for each in sorted(forms, key=len, reverse=True))
    # JSON in JSON has its backslashes twice.
    return b"(?:%b)" % b"|".join(
        each.replace(rb"\\", rb"\\+", 1) if each.startswith(rb"\\") else each for each in escaped
    )


def _letter_before(data: bytes, start: int) -> bool:
    before = data[max(0, start - 6) : start]
    if before[-2:] in _ESCAPES:
        return False
    if (escaped := _ESCAPED.search(before)) is not None:
        return chr(int(escaped[1] or escaped[2], 16)).isalnum()
    for length in range(1, 5):
        try:
            return before[-length:].decode().isalnum()
        except UnicodeDecodeError:
            continue
    return False


def _letter_after(data: bytes, end: int) -> bool:
    return data[end : end + 4].decode(errors="ignore")[:1].isalnum()
