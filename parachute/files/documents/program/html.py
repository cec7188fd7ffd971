"""HTML: what is written between its marks, each word in the line in which the file has it."""

import codecs
import re
from html.parser import HTMLParser
from typing import IO

from parachute.files.documents.program.text import PARAGRAPH, Text

_LARGEST = 8 << 20
_HIDDEN = ("script", "style", "template", "svg")
_INLINE = frozenset(
    (  # noqa: SIM905 - a list would take forty lines
        "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rp rt ruby s samp "
        "small span strike strong sub sup time tt u var wbr img"
    ).split()
)
_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_ODD = frozenset(("idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"))
"""Encodings that no page has; some take hours for a few megabytes."""

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read(file: IO[bytes], text: Text) -> None:
    """Read a page."""
    write(decoded(file.read(_LARGEST)).replace("\f", " "), text)


def decoded(data: bytes) -> str:
    """Return the text of a page: in the encoding that it names, or in UTF-8, or else in Windows' western one."""
    named = _CHARSET.search(data[:2048])
    names = [name for mark, name in _MARKS if data.startswith(mark)]
    names += [named[1].decode("ascii")] if named else []
    for name in (*names, "utf-8"):
        try:
            codec = codecs.lookup(name).name
            if codec.replace("-", "_") not in _ODD:
                return data.decode(codec)
        except (LookupError, ValueError):
            continue
    return data.decode("cp1252", errors="replace")


def write(source: str, text: Text, *, counts_lines: bool = True) -> None:
    """Write what a page says; with lines as in the file, or with one for each paragraph."""
    reader = _Reader(text, counts_lines)
    reader.feed(source.replace("\r\n", "\n"))
    reader.close()


class _Reader(HTMLParser):
    def __init__(self, text: Text, counts_lines: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._text = text
        self._counts_lines = counts_lines
        self._first = text.lines - 1
        self._hidden = ""
        self._depth = 0
        self._is_block = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._hidden:
            self._depth += tag == self._hidden
        elif tag in _HIDDEN:
            self._hidden, self._depth = tag, 1
        else:
            self._mark(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._hidden:
            self._depth -= tag == self._hidden
            if self._depth == 0:
                self._hidden = ""
        else:
            self._mark(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._hidden:
            self._mark(tag)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if not self._counts_lines:
            words = " ".join(data.split())
            if not words:
                self._space()
                return
            self._begin("\n")
            if data[0].isspace():
                self._space()
            self._text.add(words)
            if data[-1].isspace():
                self._space()
            return
        words = data.lstrip("\n\t\r ")
        line = self._first + self.getpos()[0] + data.count("\n", 0, len(data) - len(words))
        if not words:
            self._space()
            return
        if line > self._text.lines:
            self._text.add("\n" * (line - self._text.lines))
            self._is_block = False
        self._begin(PARAGRAPH)
        if len(words) < len(data):
            self._space()
        self._text.add(words)

    def _mark(self, tag: str) -> None:
        self._is_block = self._is_block or tag not in _INLINE

    def _begin(self, end: str) -> None:
        if self._is_block and self._text.last not in "\n\f":
            self._text.add(end)
        self._is_block = False

    def _space(self) -> None:
        if not self._text.last.isspace():
            self._text.add(" ")
