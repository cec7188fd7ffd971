"""HTML of an answer as Markdown: what it says, in one pass, whatever is nested in it or never ends."""

import re
from html import unescape

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,20})([^<>]*)>|<![^<>]*>")
_HREF = re.compile(r"""\bhref\s{0,5}=\s{0,5}["']?(https?://[^\s"'<>]{1,2000})""")
_SOURCE = re.compile(r"""\bsrc\s{0,5}=\s{0,5}["']([^"'<>]{1,300})["']""")
_BLOCKS = frozenset({"p", "div", "pre", "blockquote", "ul", "ol", "table", "section", "article"})
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "code": "`"}
_UNSEEN = frozenset({"script", "style", "head", "title"})
_DEEPEST = 10
_COLUMNS = 50


def markdown(html: str) -> str:
    """The text of an HTML fragment, with headings, lists, tables, code and links."""
    writer = _Writer()
    place = 0
    for tag in _TAG.finditer(html):
        writer.text(unescape(html[place : tag.start()]))
        place = tag.end()
        if tag[2] is not None:
            writer.tag(tag[2].lower(), tag[3], is_end=bool(tag[1]))
    writer.text(unescape(html[place:]))
    return writer.all()


def plain(html: str) -> str:
    """The words of a fragment, as they stand there."""
    return unescape(_TAG.sub("", html))


def sources(html: str) -> list[str]:
    """The addresses of the pictures in a fragment."""
    return [unescape(found[1]) for tag in _TAG.finditer(html) if tag[2] == "img" and (found := _SOURCE.search(tag[3]))]


class _Writer:
    """Writes one fragment; a break is written only before what follows it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._break = 0
        self._lists: list[int | None] = []
        self._links: list[str] = []
        self._code = 0
        self._unseen: str | None = None
        self._cells = -1
        """Cells of the first row of a table, which is its heading; -1 outside of one."""

    def all(self) -> str:
        """Return what was written."""
        return "".join(self._parts).strip()

    def text(self, text: str) -> None:
        """Write words."""
        if self._unseen is not None:
            return
        if not self._code:
            text = re.sub(r"\s+", " ", text)
            text = text.lstrip() if self._break or not self._parts else text
        if text:
            self._write(text)

    def tag(self, name: str, attributes: str, *, is_end: bool) -> None:
        """Write what a tag means."""
        if name in _UNSEEN or self._unseen is not None:
            if name in _UNSEEN:
                self._unseen = None if is_end and name == self._unseen else self._unseen or (None if is_end else name)
        elif name in ("ul", "ol"):
            self._list(name, is_end=is_end)
        elif name == "pre":
            self._pre(is_end=is_end)
        elif name in _BLOCKS:
            self._end_line(2)
            self._cells = (-1 if is_end else 0) if name == "table" else self._cells
        elif name == "br":
            self._break += 1
        elif len(name) == 2 and name[0] == "h" and name[1] in "123456":
            self._end_line(2)
            if not is_end:
                self._write("#" * int(name[1]) + " ")
        elif name == "hr":
            self._end_line(2)
            self._write("---")
            self._end_line(2)
        elif name == "li" and not is_end:
            self._item()
        elif name in ("tr", "td", "th"):
            self._row(name, is_end=is_end)
        elif name == "a":
            self._link(attributes, is_end=is_end)
        elif (mark := _MARKS.get(name)) and not self._code:
            if is_end:
                self._parts.append(mark)
            else:
                self._write(mark)

    def _write(self, text: str) -> None:
        if self._break and self._parts:
            self._parts.append("\n" * min(self._break, 2))
        self._break = 0
        self._parts.append(text)

    def _end_line(self, lines: int) -> None:
        self._break = max(self._break, lines)

    def _list(self, name: str, *, is_end: bool) -> None:
        self._end_line(1 if len(self._lists) > is_end else 2)
        if not is_end:
            self._lists.append(0 if name == "ol" else None)
        elif self._lists:
            self._lists.pop()

    def _item(self) -> None:
        self._end_line(1)
        mark = "- "
        if self._lists and (number := self._lists[-1]) is not None:
            self._lists[-1] = number + 1
            mark = f"{number + 1}. "
        self._write("  " * min(max(len(self._lists) - 1, 0), _DEEPEST) + mark)

    def _pre(self, *, is_end: bool) -> None:
        if is_end == (self._code == 0):
            return
        self._end_line(1 if is_end else 2)
        self._write("```" if is_end else "```\n")
        self._code = 0 if is_end else 1
        self._break = 2 if is_end else 0

    def _row(self, name: str, *, is_end: bool) -> None:
        if self._cells < 0:
            return
        if name != "tr":
            if is_end:
                self._parts.append(" |")
                self._cells += 1
            else:
                self._write(" ")
        elif not is_end:
            self._end_line(1)
            self._write("|")
        elif 0 < self._cells <= _COLUMNS:
            self._parts.append("\n|" + " --- |" * self._cells)
            self._cells = _COLUMNS + 1

    def _link(self, attributes: str, *, is_end: bool) -> None:
        if not is_end:
            found = _HREF.search(attributes)
            self._links.append(unescape(found[1]) if found else "")
            if found:
                self._write("[")
        elif self._links and (address := self._links.pop()):
            self._parts.append(f"]({address})")
