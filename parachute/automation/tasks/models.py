"""A task of the owner's."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

from parachute.automation.tasks.reading import Written, read_tasks
from parachute.base.answers import Answer

_ID = 12
"""Hexadecimal digits of an id: two tasks of a vault have never the same, and a person can type it."""


class Task(Answer, frozen=True):
    """A task in a file of the vault; `line` counts from 1, `due` is a day, `heading` the one that it stands below."""

    id: str
    path: str
    line: int
    text: str
    due: str | None
    heading: str | None
    done: bool


class TaskList(Answer, frozen=True):
    """The first of the tasks that were asked for, of which there are `total`.

    `left_out` counts files that are too large to be read. `is_cut`: there are more files or tasks than are looked at.
    """

    tasks: Sequence[Task]
    total: int
    left_out: int
    is_cut: bool


def named(path: str, text: str) -> Iterator[tuple[Task, Written]]:
    """The tasks of a text with their ids, which a tick does not change, nor do lines above."""
    seen: Counter[str] = Counter()
    for each in read_tasks(text):
        name = "\0".join((path, each.raw, str(seen[each.raw])))
        seen[each.raw] += 1
        identifier = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:_ID]
        due = each.due.isoformat() if each.due else None
        yield Task(identifier, path, each.line, each.text, due, each.heading, each.done), each
