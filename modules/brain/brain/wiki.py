"""Wiki links: `[[Name]]`, `[[slug]]`, `[[folder/slug#Heading|text]]`; none inside of code."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import code
from .names import fold

# In a table the sign before the text is written \|.
_LINK = re.compile(
    r"\[\[(?P<target>[^\[\]|#\n]*[^\[\]|#\n\\])(?P<heading>#[^\[\]|\n]*)?(?P<label>\\*\|[^\[\]\n]*)?\]\]"
)
_LIST_SIGN = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_NEARBY, _LONGEST_NOTE = 40, 300
_NOTE = re.compile(r"^\s*[-\u2013\u2014:]\s+(.+)$")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of an entity: `key` is its target as names are compared, `kind` wiki or relationship, `note` what is said of it."""

    key: str
    target: str
    kind: str = "wiki"
    note: str = ""


def key_of(target: str) -> str:
    """The key of the last part of what a link names, which alone decides as long as no two have it."""
    return fold(target.rsplit("/", 1)[-1].removesuffix(".md"))


def find(text: str) -> Iterator[Link]:
    """All links of a text, with the rest of the line after one that begins a list item."""
    for match in _links(text):
        if key := key_of(match["target"]):
            note = _note(text, match) if _begins_item(text, match.start()) else ""
            yield Link(key, match["target"].strip(), "wiki", note)


def rewrite(text: str, renamed: Callable[[str], str | None]) -> str:
    """The text with the targets of some links replaced; `renamed` gets a target and gives a new one, or None."""
    parts, end = [], 0
    for match in _links(text):
        if (new := renamed(match["target"])) is not None:
            parts += [text[end : match.start("target")], new]
            end = match.end("target")
    return "".join([*parts, text[end:]])


def _links(text: str) -> Iterator[re.Match[str]]:
    if "[[" not in text:
        return
    inside = code.places(text)
    for match in _LINK.finditer(text):
        if not inside.touches(*match.span()):
            yield match


def _begins_item(text: str, start: int) -> bool:
    """True if a link stands at the beginning of a list item; looked for nearby only, since a line may be very long."""
    line = text.rfind("\n", max(0, start - _NEARBY), start) + 1
    return (line > 0 or start <= _NEARBY) and _LIST_SIGN.fullmatch(text[line:start]) is not None


def _note(text: str, match: re.Match[str]) -> str:
    rest = text[match.end() : match.end() + _LONGEST_NOTE].partition("\n")[0].rstrip()
    found = _NOTE.match(rest)
    return found[1] if found else ""
