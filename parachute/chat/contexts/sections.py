"""The sections of a context file that the curator may write: Facts, Current Focus, History (spec 003, "File Format").

Everything else of the file stays as it is written, to the byte.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from parachute.base.errors import InvalidInput
from parachute.core import front_matter

FACTS, FOCUS, HISTORY = "facts", "current_focus", "history"
HEADINGS = {FACTS: "Facts", FOCUS: "Current Focus", HISTORY: "History"}
"""The sections by their names, in their order."""

LONGEST = 8_000
"""Characters of what is written into one section at a time."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"- \S.*|  .*\S.*")
_LEADING = re.compile(r"\s*<!--.*?-->[ \t]*(?:\r?\n|\Z)", re.DOTALL)


class _Section(NamedTuple):
    """First and last line of a section's text."""

    first: int
    last: int


def named(section: str) -> str:
    """The name of a section as somebody writes it; error: InvalidInput with those that there are."""
    found = "_".join(section.casefold().split())
    if found not in HEADINGS:
        raise InvalidInput(
            f"section: {section[:40]!r} is not allowed; use {', '.join(HEADINGS)}.", key="unknown_section"
        )
    return found


def checked(content: str, field: str = "content") -> str:
    """Return text for a section if it consists of items, so that it can be the beginning of nothing else. Error: InvalidInput."""
    lines = [line.rstrip() for line in content.strip("\r\n").splitlines()]
    lines = [line for line in lines if line]
    if not lines or not lines[0].startswith("- ") or not all(map(_ITEM.fullmatch, lines)):
        raise InvalidInput(
            f"{field}: lines that begin with `- ` are expected, and two spaces where one goes on in the next line.",
            key="not_a_list",
        )
    text = "\n".join(lines)
    if len(text) > LONGEST:
        raise InvalidInput(f"{field}: {LONGEST:,} characters are allowed.", key="section_too_long")
    if "<!--" in text or "-->" in text or any(_FENCE.match(line[2:]) for line in lines):
        raise InvalidInput(f"{field}: comments and blocks of code are not allowed.", key="section_with_code")
    return text


def written(text: str, contents: Mapping[str, str], mark: str) -> str:
    """A file with new contents of sections; to History they are added below the comment `mark`, others are replaced."""
    parts = front_matter.split(text)
    body, newline = parts.body, "\r\n" if "\r\n" in text else "\n"
    for name in HEADINGS:
        if name not in contents:
            continue
        lines = contents[name].replace("\n", newline)
        if name == HISTORY:
            lines = f"<!-- {mark} -->{newline}{lines}"
        body = _with(body, name, lines, newline)
    return text[: len(text) - len(parts.body)] + body


def has(text: str, contents: Mapping[str, str], mark: str) -> bool:
    """Return whether a file has these contents already, as `written` leaves them."""
    body = front_matter.split(text.replace("\r\n", "\n")).body
    for name, content in contents.items():
        section = _find(body, name)
        there = "" if section is None else body[section.first : section.last]
        if name == HISTORY and f"<!-- {mark} -->\n{content}" not in there:
            return False
        if name != HISTORY and there[_comments_end(there) :].strip() != content:
            return False
    return True


def _with(body: str, name: str, lines: str, newline: str) -> str:
    section = _find(body, name)
    if section is None:
        before = body.rstrip()
        gap = newline * 2 if before else ""
        return f"{before}{gap}## {HEADINGS[name]}{newline}{lines}{newline}"
    there, after = body[section.first : section.last], body[section.last :]
    if name == HISTORY:
        kept = there.rstrip()
        there = f"{kept}{newline * 2}{lines}{newline}" if kept else f"{lines}{newline}"
    else:
        there = f"{there[: _comments_end(there)]}{lines}{newline}"
    head = body[: section.first]
    if not head.endswith("\n"):
        head += newline
    return f"{head}{there}{newline if after else ''}{after}"


def _comments_end(there: str) -> int:
    """Return the end of a section's leading comments, which tell people its purpose."""
    end = 0
    while match := _LEADING.match(there, end):
        end = match.end()
    return end


def _find(body: str, name: str) -> _Section | None:
    """The first section of a name, outside of code; it ends with the next heading as high, or higher."""
    first: int | None = None
    for level, title, begin, end in _headings(body):
        if first is not None and level <= len("##"):
            return _Section(first, begin)
        if first is None and level == len("##") and title.casefold() == HEADINGS[name].casefold():
            first = end
    return None if first is None else _Section(first, len(body))


def _headings(body: str) -> Iterator[tuple[int, str, int, int]]:
    """(level, title, begin of its line, begin of the next one) of each heading."""
    fence, position = "", 0
    for line in body.splitlines(keepends=True):
        begin, position = position, position + len(line)
        if fence:
            inner = line.strip()
            fence = "" if len(inner) >= len(fence) and not inner.strip(fence[0]) else fence
        elif match := _FENCE.match(line):
            fence = match[1]
        elif match := _HEADING.match(line.rstrip("\r\n")):
            yield len(match[1]), match[2].strip(), begin, position
