"""Tasks of a text in Markdown: list items that begin with a box, such as `- [ ] Call the bank`."""

import re
from collections.abc import Iterator
from datetime import date

from msgspec import Struct, field

from parachute.core import front_matter

MOST_IN_A_FILE = 1_000
"""Tasks that are read of one file: more is a list that a program made, and would push all others out."""

_NESTED = 16
"""List items that may begin on one line: each costs a look at the rest of it."""

_CODE = 4
"""Columns by which code is indented, and the most spaces between the mark of an item and its text."""

_SHOWN = 500
"""Characters of a task or a heading that are shown: the line has the rest."""

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\n|\r|\Z)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_QUOTE = re.compile(r"(?: {0,3}>[ \t]?)+")
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t]|\Z)")
_BOX = re.compile(r"\[([ xX])\](?=[ \t]+[^ \t])")
_FENCE = re.compile(r"(`{3,})[^`]*\Z|(~{3,})")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_COMMENT = "<!--"
_HEADING = re.compile(r"#{1,6}(?=[ \t]|\Z)")
_ENTRY = re.compile(r"para:[\w:-]+")
_DATE = r"(?P<{}>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})"
_DUE = re.compile(
    rf"[📅📆🗓]\ufe0f?[ \t]?{_DATE.format('sign')}(?![\w-])"
    rf"|(?<!\S)due:{_DATE.format('word')}(?!\S)"
    rf"|\[due::[ \t]?{_DATE.format('square')}\]"
    rf"|\(due::[ \t]?{_DATE.format('round')}\)"
)


class Written(Struct, frozen=True):
    """A task as it is written; `at` is the place of the sign in its box, `raw` its line with an empty box."""

    at: int
    line: int
    raw: str
    text: str
    due: date | None
    heading: str | None
    done: bool


class _Block(Struct):
    """State after the lines before; `items` are the columns at which the contents of list items begin."""

    heading: str | None = None
    depth: int = 0
    """Marks `>` before each line."""
    items: list[int] = field(default_factory=list)
    inside: str = ""
    """The fence of code, or the beginning of a comment, which ends where the item ends that has it (`inside_column`)."""
    inside_column: int = 0
    is_paragraph: bool = False
    """A line of text that is indented less still belongs to the item."""


def read_tasks(text: str) -> list[Written]:
    """The tasks, at most MOST_IN_A_FILE; none in code, HTML comments and front matter."""
    if not _has_box(text):
        return []
    found: list[Written] = []
    start = len(text) - len(front_matter.split(text).body)
    number = len(_LINE_END.findall(text[:start]))
    block = _Block()
    for match in _lines(text, start):
        number += 1
        at = _box_of(block, match[1])
        if at is None:
            continue
        line, box = match[1], _BOX.match(match[1], at)
        assert box is not None
        raw = f"{line[: at + 1]} {line[at + 2 :]}"
        said, due = _without_date(line[box.end() :])
        found.append(Written(match.start() + at + 1, number, raw, said[:_SHOWN], due, block.heading, box[1] != " "))
        if len(found) == MOST_IN_A_FILE:
            break
    return found


def marked(text: str, task: Written, *, done: bool) -> str:
    """The same text with the box of a task ticked or empty."""
    if task.done == done:
        return text
    return f"{text[: task.at]}{'x' if done else ' '}{text[task.at + 1 :]}"


def _has_box(text: str) -> bool:
    return any(box in text for box in ("[ ]", "[x]", "[X]"))


def _lines(text: str, start: int) -> Iterator[re.Match[str]]:
    return (match for match in _LINE.finditer(text, start) if match.end() > match.start())


def _box_of(block: _Block, line: str) -> int | None:
    """Take a line into the block, and return the place of its box, if it is a task."""
    quote = None if block.inside and not block.depth else _QUOTE.match(line)
    depth = quote[0].count(">") if quote else 0
    if depth != block.depth:
        block.depth, block.items, block.inside, block.is_paragraph = depth, [], "", False
    at, column = _indent(line, quote.end() if quote else 0, 0)
    if at == len(line):
        block.is_paragraph = False
        return None
    if block.inside and column >= block.inside_column:
        if _ends(block.inside, line, at, column - block.inside_column):
            block.inside = ""
        return None
    block.inside = ""
    return _begun(block, line, at, column)


def _begun(block: _Block, line: str, at: int, column: int) -> int | None:
    """Take a line that is neither empty nor inside of something into the block."""
    begins = line[at]
    is_lazy = block.is_paragraph and begins not in "#`~<-*+_" and not begins.isdigit()
    while block.items and column < block.items[-1] and not is_lazy:
        block.items.pop()
    for _ in range(_NESTED):
        base = block.items[-1] if block.items else 0
        if column - base >= _CODE:
            return None  # code, or more of a paragraph
        if _RULE.match(line, at):
            block.is_paragraph = False
            return None
        item = _ITEM.match(line, at)
        if item is None:
            break
        column += item.end() - at
        inner, inner_column = _indent(line, item.end(), column)
        if inner == len(line) or inner_column - column > _CODE:
            # Nothing on this line, or code after one space.
            block.items.append(column + 1)
            block.is_paragraph = False
            return None
        at, column = inner, inner_column
        block.items.append(column)
        if _BOX.match(line, at):
            block.is_paragraph = True
            return at
    _take_other(block, line, at)
    return None


def _take_other(block: _Block, line: str, at: int) -> None:
    block.is_paragraph = False
    block.inside_column = block.items[-1] if block.items else 0
    if fence := _FENCE.match(line, at):
        block.inside = fence[1] or fence[2]
    elif line.startswith(_COMMENT, at):
        block.inside = "" if "-->" in line[at + 2 :] else _COMMENT
    elif heading := _HEADING.match(line, at):
        said = _ENTRY.sub("", line[heading.end() :], count=1).strip().rstrip("#").strip()
        block.heading = said[:_SHOWN] or None
    else:
        block.is_paragraph = True


def _ends(inside: str, line: str, at: int, column: int) -> bool:
    if inside == _COMMENT:
        return "-->" in line
    rest = line[at:].rstrip(" \t")
    return column < _CODE and len(rest) >= len(inside) and rest == inside[0] * len(rest)


def _indent(line: str, at: int, column: int) -> tuple[int, int]:
    """Pass over spaces and tabs; a tab reaches to the next multiple of four columns."""
    while at < len(line) and line[at] in " \t":
        column += 1 if line[at] == " " else _CODE - column % _CODE
        at += 1
    return at, column


def _without_date(text: str) -> tuple[str, date | None]:
    """The text without its due date, and the first one that is in the calendar; what is not stays in the text."""
    due: date | None = None

    def taken(match: re.Match[str]) -> str:
        nonlocal due
        try:
            day = date.fromisoformat(match[match.lastgroup or 0])
        except ValueError:
            return match[0]
        due = due or day
        return ""

    said = " ".join(_DUE.sub(taken, text).split())
    return said or " ".join(text.split()), due
