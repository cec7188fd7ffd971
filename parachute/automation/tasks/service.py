"""Tasks of the notes: listed, ticked in their files, and brought into the inbox on their day."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path

from parachute.automation.tasks.looking import Found, Notes, text_of
from parachute.automation.tasks.models import Task, TaskList, named
from parachute.automation.tasks.reading import Written, marked
from parachute.automation.tasks.store import PutOff
from parachute.base.clock import Clock
from parachute.base.errors import Conflict, InvalidInput
from parachute.base.steering.judging import folded
from parachute.config.vault.service import Vault
from parachute.events.file_watcher.service import VaultWatcher
from parachute.files.models import Expected
from parachute.files.service import VaultFiles
from parachute.security.keys.models import Caller

_OVERDUE = timedelta(days=30)
"""Age beyond which a task stays out of the inbox: an old vault would fill it with what nobody does any more."""

_WAITING = 50
"""Tasks that wait in the inbox at most: beside more nobody would see what else waits there."""

_FRESH_SECONDS, _WATCHED_SECONDS = 60.0, 600.0
"""Longest time for which the inbox, which is read twice a minute, takes what was found; the latter where changes are told: one may be missed."""

_SECONDS, _ASIDE_SECONDS = 10.0, 0.5
"""Longest time for which one look reads new files: while a person waits, and for the inbox, which comes back to it beside other work."""

_TRIES = 20
"""Attempts at a file that others write all the time, such as a sync that is under way."""

_DAY = timedelta(days=1)


class Tasks:
    """Finds tasks where they are written, and keeps none; `changed` is called when one was ticked, or not any more."""

    def __init__(
        self,
        vault: Vault,
        state: Path,
        files: VaultFiles,
        watcher: VaultWatcher,
        clock: Clock,
        changed: Callable[[], None],
    ) -> None:
        self._notes = Notes(vault.root.resolve(), clock)
        self._put_off = PutOff(state)
        self._files = files
        self._watcher = watcher
        self._clock = clock
        self._changed = changed
        self._looking = asyncio.Lock()
        self._found: Found | None = None
        self._changes = 0
        self._looked = 0.0
        watcher.listen(self._handle_changes, is_needed=False)

    async def list(self, *, done: bool, due: date | None, path: str, limit: int) -> TaskList:
        """The tasks that are open or `done`: those due on or before a day, in a file or folder; the first by their day, then by their place."""
        found = await self._look()
        place = path.strip("/")
        last = due.isoformat() if due else None
        tasks = [
            each
            for each in found.tasks
            if each.done == done
            and (last is None or (each.due is not None and each.due <= last))
            and (not place or each.path == place or each.path.startswith(f"{place}/"))
        ]
        return TaskList(tasks[:limit], len(tasks), found.left_out, found.is_cut)

    async def tick(self, identifier: str, caller: Caller, *, done: bool) -> Task:
        """Tick a task in its file, or untick it; one that is so already stays. Errors: Conflict if it is gone, those of writing."""
        found = await self._look()
        path = next((each.path for each in found.tasks if each.id == identifier), None)
        if path is None:
            raise _gone()
        for _ in range(_TRIES):
            text, digest, task, written = await asyncio.to_thread(self._read, path, identifier)
            if task.done == done:
                break
            try:
                # As any edit of a file: it can be undone, and nothing is lost that somebody has written meanwhile.
                await self._files.write(path, marked(text, written, done=done), Expected(digest=digest), caller)
            except Conflict as error:
                if error.key != "changed_meanwhile":
                    raise
                continue
            break
        else:
            raise Conflict(f"{path} is being changed by others all the time.", "Try it again.", key="file_busy")
        self._forget()
        self._changed()
        return Task(task.id, task.path, task.line, task.text, task.due, task.heading, done)

    async def put_off(self, identifier: str) -> None:
        """Leave a task out of the inbox until tomorrow; error: Unavailable."""
        today = self._clock.today()
        await asyncio.to_thread(self._put_off.put_off, identifier, today + _DAY, today)

    async def waiting(self) -> Sequence[Task]:
        """The open tasks whose day has come, the last ones; error: Unavailable."""
        is_watched = self._watcher.is_on and self._watcher.problem is None
        longest = _WATCHED_SECONDS if is_watched else _FRESH_SECONDS
        is_fresh = self._clock.elapsed() - self._looked < longest
        found = self._found if self._found is not None and is_fresh else await self._look(_ASIDE_SECONDS)
        today = self._clock.today()
        first, last = (today - _OVERDUE).isoformat(), today.isoformat()
        due = [each for each in found.tasks if not each.done and each.due is not None and first <= each.due <= last]
        if not due:
            return ()
        later = await asyncio.to_thread(self._put_off.all)
        # What agents are told is changed by whoever may change prompts, and by no answer.
        told = await self._files.imported()
        due = [each for each in due if later.get(each.id, today) <= today and folded(each.path) not in told]
        return due[-_WAITING:]

    async def _look(self, seconds: float = _SECONDS) -> Found:
        async with self._looking:
            self._looked, changes = self._clock.elapsed(), self._changes
            found = await asyncio.to_thread(self._notes.look, seconds)
            # What was told meanwhile may be missing in it.
            self._found = found if changes == self._changes and not found.is_partial else None
        return found

    async def _handle_changes(self, _: frozenset[str]) -> None:
        self._forget()

    def _forget(self) -> None:
        self._changes += 1
        self._found = None

    def _read(self, path: str, identifier: str) -> tuple[str, str, Task, Written]:
        try:
            data = self._notes.read(path)
        except (OSError, InvalidInput) as error:
            raise _gone() from error
        text = text_of(data)
        for task, written in named(path, text):
            if task.id == identifier:
                return text, hashlib.sha256(data).hexdigest(), task, written
        raise _gone()


def _gone() -> Conflict:
    return Conflict(
        "The line of this task is no longer there.", "`parachute tasks` lists those that are.", key="task_gone"
    )
