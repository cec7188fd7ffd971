"""Changes of one turn: applied from its view after tool calls, so that the owner sees the work, or recorded by a snapshot."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from parachute.base.folders import TooMany
from parachute.changes.models import Applied
from parachute.changes.service import Changes
from parachute.chat.origins.run_origin import RunOrigin
from parachute.chat.runs.events import RunWarning
from parachute.chat.runs.preparation import Preparation
from parachute.chat.runs.run import Run
from parachute.sandbox.engines.views import View

_MOST_FOLDERS = 20


class TurnChanges(Protocol):
    """Changes of one turn."""

    def soon(self) -> None:
        """A tool has done something."""

    async def finish(self) -> Applied:
        """The turn has ended; errors: OSError."""


class Recording:
    """A turn with the owner's own rights, in whose folder a snapshot shows afterwards what has changed."""

    def __init__(self, changes: Changes, session: str, origin: RunOrigin) -> None:
        self._changes = changes
        self._session = session
        self._origin = origin

    def soon(self) -> None:
        """Nothing: the agent writes to the owner's folder itself."""

    async def finish(self) -> Applied:
        """Record what has changed."""
        return await self._changes.direct.record(self._session, self._origin.value)


class Applying:
    """The applying of one turn; one pass at a time, and another one if something came meanwhile."""

    def __init__(self, changes: Changes, session: str) -> None:
        self._changes = changes
        self._session = session
        self._is_wanted = False
        self._working: asyncio.Task[None] | None = None

    def soon(self) -> None:
        """Apply in the background what there is now."""
        self._is_wanted = True
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work(), name=f"applying the changes of {self._session}")

    async def finish(self) -> Applied:
        """Apply what is left at the end of the turn."""
        if self._working is not None:
            self._is_wanted = False
            await self._working
        return await self._changes.apply(self._session, final=True)

    async def _work(self) -> None:
        while self._is_wanted:
            self._is_wanted = False
            await self._changes.apply(self._session, final=False)


async def begin_changes(changes: Changes, run: Run, preparation: Preparation, origin: RunOrigin) -> TurnChanges | None:
    """Begin to keep what the turn changes in its project, so that it can be undone; None where nothing is kept."""
    execution, session = preparation.execution, run.session.id
    if execution.view is not None and execution.project is not None:
        upper, is_reviewed = View(execution.view).upper, preparation.is_reviewed
        await changes.begin(
            session,
            execution.project,
            upper,
            is_reviewed=is_reviewed,
            parts=execution.parts,
            origin=lambda: origin.value,
        )
        if foreign := changes.foreign(session):
            run.log.append(cannot_be_written(execution.project, foreign))
        return Applying(changes, session)
    if execution.mode != "direct" or run.profile is not None:
        return None
    directory = Path(execution.directory)
    try:
        begun = await changes.direct.begin(session, directory)
    except (OSError, TooMany) as error:
        why = error.strerror if isinstance(error, OSError) else error
        said = f"What this run changes in {directory} cannot be taken back: {why}"
        run.log.append(RunWarning("No undo", said))
        return None
    if begun.warning:
        run.log.append(RunWarning("Undo", begun.warning))
    return Recording(changes, session, origin)


def cannot_be_written(project: Path, foreign: Sequence[str]) -> RunWarning:
    """Say before the agent works where it cannot write, and what to do."""
    folders = [str(project / each) for each in foreign]
    return RunWarning(
        "Folders of another group",
        f"The agent can read, and not change, what is in {folders[0]}{' and others' if len(folders) > 1 else ''}: it belongs to another "
        "group or user than yours. Change that (`chgrp -R`, `chmod g-s`), or let agents write there directly (`changes.apply`: live).",
        folders[:_MOST_FOLDERS],
    )


def warnings(applied: Applied) -> list[RunWarning]:
    """Return the warnings for the person at the end of a turn."""
    found = []
    if applied.held:
        waits = "A change waits" if applied.held == 1 else f"{applied.held} changes wait"
        said = f"{waits} for your decision: `parachute changes` shows why."
        found.append(RunWarning("Waiting for you", said, key="changes_wait"))
    if applied.warning:
        found.append(RunWarning("Undo", applied.warning))
    if applied.problem:
        found.append(RunWarning("Not applied", f"{applied.problem} What the agent wrote is kept, and tried again."))
    return found
