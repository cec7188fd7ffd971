"""Wiki links: `[[Name]]`, `[[slug]]`, `[[folder/slug#Heading|text]]`; none inside of code."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .names import fold

_LINK = re.compile(
    r"(?P<code>^(?P<fence>```+|~~~+).*?^(?P=fence)[`~]*[ \t]*$|`[^`\n]+`)"
    r"|\[\[(?P<target>[^\[\]|#\n]+)(?P<heading>#[^\[\]|\n]*)?(?P<label>\|[^\[\]\n]*)?\]\]",
    re.DOTALL | re.MULTILINE,
)
_LIST_SIGN = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_NOTE = re.compile(r"^\s*[-–—:]\s+(.+)$")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of an entity: `key` is its target as names are compared, `kind` wiki or relationship, `note` what is said of it."""

    key: str
    target: str
    kind: str = "wiki"
    note: str = ""


def key_of(target: str) -> str:
    """The key of what a link names; a folder before it only tells people where the file is."""
    return fold(target.rstrip("\\").rsplit("/", 1)[-1].removesuffix(".md"))


def find(text: str) -> Iterator[Link]:
    """All links of a text, with the rest of the line after one that begins a list item."""
    for match in _LINK.finditer(text):
        if match["target"] is None or not (key := key_of(match["target"])):
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        rest = text[match.end() : end if end >= 0 else len(text)].rstrip()
        note = _NOTE.match(rest) if _LIST_SIGN.sub("", text[start : match.start()]) == "" else None
        yield Link(key, match["target"].strip(), "wiki", note[1][:300] if note else "")


def rewrite(text: str, renamed: Callable[[str], str | None]) -> str:
    """The text with the targets of some links replaced; `renamed` gets a target and gives a new one, or None."""

    def replaced(match: re.Match[str]) -> str:
        new = renamed(match["target"]) if match["target"] is not None else None
        return match[0] if new is None else f"[[{new}{match['heading'] or ''}{match['label'] or ''}]]"

    return _LINK.sub(replaced, text)
