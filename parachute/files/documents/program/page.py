"""A page of the web as Markdown: its title in the first line, then what it says, without what stands around that on every page."""

import re
from html.parser import HTMLParser
from typing import IO
from urllib.parse import urljoin, urlsplit

from parachute.files.documents.program.html import decoded
from parachute.files.documents.program.text import Text, escaped

_LARGEST = 8 << 20
_DEEPEST = 8
_LEAST = 200
"""Letters of an article: one with fewer is a teaser, and the page itself counts."""

_LEFT_OUT = frozenset(
    (  # noqa: SIM905 - a list would take twenty lines
        "script style template svg noscript iframe object form button select textarea dialog nav aside footer canvas "
        "audio video map menu"
    ).split()
)
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())  # noqa: SIM905
_BLOCKS = frozenset("address article body dd div dl dt figcaption figure header main p section table ul ol tr".split())  # noqa: SIM905
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "code": "`"}
_BEGINNING = re.compile(r"^(#{1,6}(?=\s)|[-+>](?=\s)|\d+(?=[.)]\s)|={3,}|-{3,})")


def read(file: IO[bytes], text: Text) -> None:
    """Read a page."""
    source = decoded(file.read(_LARGEST))
    whole = _Reader()
    whole.feed(source)
    whole.close()
    article = max(whole.articles, key=len, default="")
    text.add(f"{' '.join((whole.title or whole.heading).split())}\n")
    text.add(article if len(article) >= _LEAST else whole.written())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title, self.heading = "", ""
        self.articles: list[str] = []
        self._base = ""
        self._parts: list[str] = []
        self._hidden: list[str] = []
        self._starts: list[tuple[str, int]] = []
        self._links: list[tuple[int, str]] = []
        self._lists: list[int | None] = []
        self._quotes = 0
        self._gap = ""
        self._is_raw = False
        self._in: str = ""

    def written(self) -> str:
        """Return what was read as Markdown."""
        return _tidy("".join(self._parts))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        values = dict(attrs)
        if self._hidden or tag in _LEFT_OUT or "hidden" in values or values.get("aria-hidden") == "true":
            if tag not in _VOID:
                self._hidden.append(tag)
        elif tag == "base":
            # The first one is the address of the page itself.
            self._base = urljoin(self._base, values.get("href") or "")
        elif tag == "title":
            self._in = "title"
        else:
            self._begin(tag, values)

    def handle_endtag(self, tag: str) -> None:
        """End an element; one that nobody has begun is nothing."""
        if self._hidden:
            if tag in self._hidden:
                while self._hidden.pop() != tag:
                    pass
        elif tag == "title":
            self._in = ""
        else:
            self._end(tag)

    def handle_data(self, data: str) -> None:
        """Write a text."""
        if self._hidden:
            return
        if self._in == "title":
            self.title += "" if self.title.strip() and not data.strip() else data
        elif self._is_raw:
            self._parts.append(data.replace("```", "` ` `"))
        else:
            if self._in == "h1" and len(self.heading) < 1000:
                self.heading += data
            words = escaped(re.sub(r"\s+", " ", data))
            is_first = not self._parts or self._parts[-1].endswith("\n")
            self._parts.append(_BEGINNING.sub(r"\\\1", words.lstrip()) if is_first else words)

    def _begin(self, tag: str, values: dict[str, str | None]) -> None:
        if tag in ("article", "main"):
            self._starts.append((tag, len(self._parts)))
        if tag == "br":
            self._parts.append("\n" if self._is_raw else "  \n")
        elif tag == "hr":
            self._block("---\n\n")
        elif tag == "img":
            self._picture(values)
        elif tag == "a":
            self._links.append((len(self._parts), self._address(values.get("href"))))
        elif tag == "pre":
            self._block("```\n")
            self._is_raw = True
        elif tag == "blockquote":
            self._quotes = min(self._quotes + 1, _DEEPEST)
            self._block("")
        elif re.fullmatch("h[1-6]", tag):
            self._in = tag
            self._block(f"{'#' * int(tag[1])} ")
        elif tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._item()
        elif tag in ("td", "th"):
            self._parts.append(" · " if self._parts and not self._parts[-1].endswith("\n") else "")
        elif tag in _MARKS and not self._is_raw:
            self._parts.append(_MARKS[tag])
        elif tag in _BLOCKS:
            self._block("")

    def _end(self, tag: str) -> None:
        if self._starts and self._starts[-1][0] == tag:
            self.articles.append(_tidy("".join(self._parts[self._starts.pop()[1] :])))
        if tag == "a" and self._links:
            self._link(*self._links.pop())
        elif tag == "pre" and self._is_raw:
            self._is_raw = False
            self._parts.append("\n```\n\n")
        elif tag == "blockquote" and self._quotes:
            self._block("")
            self._quotes -= 1
        elif re.fullmatch("h[1-6]", tag):
            self._in = ""
            self._block("")
        elif tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            if not self._lists:
                self._block("")
        elif tag in _MARKS and not self._is_raw:
            self._parts.append(_MARKS[tag])
        elif tag in _BLOCKS:
            self._block("")

    def _block(self, begun: str) -> None:
        # Of blocks in blocks the innermost one counts.
        if self._parts and self._parts[-1] == self._gap:
            self._parts.pop()
        self._gap = f"\n\n{'> ' * self._quotes}"
        self._parts.append(self._gap if not begun else f"{self._gap}{begun}")

    def _item(self) -> None:
        depth = len(self._lists[-_DEEPEST:])
        mark = "- "
        if self._lists and (number := self._lists[-1]) is not None:
            self._lists[-1] = number + 1
            mark = f"{number + 1}. "
        self._parts.append(f"\n{'> ' * self._quotes}{'  ' * max(0, depth - 1)}{mark}")

    def _link(self, start: int, address: str) -> None:
        words = " ".join("".join(self._parts[start:]).split())
        del self._parts[start:]
        self._parts.append(f"[{words}]({address})" if address and words else words)

    def _picture(self, values: dict[str, str | None]) -> None:
        """Write where a picture is: one that is shown would tell its site each time that the note is read."""
        address = self._address(values.get("src"))
        words = escaped(" ".join((values.get("alt") or "").split()))
        if address and words:
            self._parts.append(words if self._links else f"[{words}]({address})")

    def _address(self, given: str | None) -> str:
        """Return a link as a whole address, empty where it is none of the web."""
        try:
            address = urljoin(self._base, (given or "").strip())
            is_web = urlsplit(address).scheme in ("http", "https")
        except ValueError:
            return ""
        return re.sub(r"[\s()<>\\]", lambda found: f"%{ord(found[0]):02X}", address) if is_web and given else ""


def _tidy(text: str) -> str:
    """Take out marks around nothing, and space at the ends of lines and between blocks."""
    text = re.sub(r"(\*\*|~~)\s*\1|(?<!`)``(?!`)", "", text)
    lines = [
        line.rstrip() if not line.endswith("  ") or not line.strip() else line.rstrip() + "  "
        for line in text.split("\n")
    ]
    lines = ["" if re.fullmatch(r"(> ?)*", line.strip()) else line for line in lines]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
