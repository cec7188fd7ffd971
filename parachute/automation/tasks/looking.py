"""Looking through the notes for tasks; a file that is as before is not read again. Methods wait for the disk."""

import time
from pathlib import Path

from msgspec import Struct

from parachute.automation.tasks.models import Task, named
from parachute.base.clock import Clock
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.base.signatures import JUST_NOW_NS
from parachute.base.steering.judging import is_told_in_vault
from parachute.files import texts

LARGEST = 1024 * 1024
"""Bytes of a file that is read: a note is smaller, and what is larger was made by a program."""

_MOST = 50_000
"""Tasks that are kept in memory, where each takes less than a kilobyte."""

_ENDINGS = (".md", ".markdown")


class _Known(Struct, frozen=True):
    """The tasks of a file; None for one that is too large. Without a `mark` it is read again."""

    mark: str
    tasks: tuple[Task, ...] | None


class Found(Struct, frozen=True):
    """All tasks, the number of files that are too large, and whether there are more; `is_partial`: the next look finds more."""

    tasks: tuple[Task, ...] = ()
    left_out: int = 0
    is_cut: bool = False
    is_partial: bool = False


class Notes:
    """The Markdown files that a search finds, without those that tell agents what to do: their boxes are not the owner's."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock
        self._known: dict[str, _Known] = {}

    def look(self, seconds: float) -> Found:
        """The tasks of all files; new ones are read for so long, and the next look goes on. Error: OSError without a vault."""
        # Before the files are: what changes while they are looked at is read again.
        now, until = time.time_ns(), self._clock.awake() + seconds
        marks = texts.marks(self._root, pictures=False)
        known: dict[str, _Known] = {}
        found: list[Task] = []
        left_out, is_cut, is_partial = 0, marks.problem is not None, False
        with Folder.open(self._root) as vault:
            for path, mark in marks.texts.items():
                if not path.lower().endswith(_ENDINGS) or is_told_in_vault(path):
                    continue
                before = self._known.get(path)
                if before is None or before.mark != mark:
                    if self._clock.awake() < until:
                        is_settled = abs(now - texts.changed_at(mark)) > JUST_NOW_NS
                        before = _Known(mark if is_settled else "", _tasks_of(vault, path))
                    else:
                        is_partial = True
                if before is None:
                    continue
                known[path] = before
                left_out += before.tasks is None
                found += before.tasks or ()
                if len(found) > _MOST:
                    is_cut = True
                    break
        self._known = known
        return Found(tuple(sorted(found[:_MOST], key=_order)), left_out, is_cut or is_partial, is_partial)

    def read(self, path: str) -> bytes:
        """The present content of a file; errors: OSError, InvalidInput."""
        with Folder.open(self._root) as vault:
            return vault.read(path, LARGEST)


def _tasks_of(vault: Folder, path: str) -> tuple[Task, ...] | None:
    try:
        data = vault.read(path, LARGEST)
    except InvalidInput as error:
        return None if error.key == "file_too_large" else ()
    except OSError:  # gone meanwhile, or kept from us
        return ()
    return tuple(task for task, _ in named(path, text_of(data)))


def text_of(data: bytes) -> str:
    """A text in UTF-8; empty for what is none."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else text


def _order(task: Task) -> tuple[bool, str, str, int]:
    return task.due is None, task.due or "", task.path, task.line
