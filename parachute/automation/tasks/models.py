"""A task of the owner's, and what is remembered of those that were put off."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.automation.tasks.reading import Written, read_tasks
from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import atomic_write, locked, read_regular

_LARGEST = 4 * 1024 * 1024
"""Bytes of the file of what was put off: far more than all that can wait for a day."""

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


class _PutOff(Struct):
    later: dict[str, date]


class PutOff:
    """`tasks.json` in the state directory: the days on which tasks come into the inbox again. Its methods wait for the disk."""

    def __init__(self, root: Path) -> None:
        self._path = root / "tasks.json"

    def all(self) -> dict[str, date]:
        """The day of each task that was put off; error: Unavailable."""
        try:
            return msgspec.json.decode(read_regular(self._path, _LARGEST), type=_PutOff).later
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, InvalidInput) as error:
            raise Unavailable(
                f"{self._path} cannot be read, so that no task comes into the inbox: {error}.",
                "Bring the file back from a backup, or remove it.",
                key="tasks_unreadable",
            ) from error

    def put_off(self, identifier: str, until: date, today: date) -> None:
        """Note the day of one, and forget those whose day has come; error: Unavailable."""
        try:
            with locked(self._path):
                found = {each: day for each, day in self.all().items() if day > today} | {identifier: until}
                atomic_write(self._path, msgspec.json.format(msgspec.json.encode(_PutOff(found)), indent=1))
        except OSError as error:
            raise Unavailable(f"{self._path} cannot be written: {error.strerror}.", key="tasks_not_written") from error
