"""The drill by the server's own clock, where no timer of the system has one made."""

import asyncio
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from parachute.base.clock import Clock
from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.events.scheduler.service import Job
from parachute.events.scheduler.times import TimeOfDay, last_due
from parachute.ops.backup.jobs import BackupJobs
from parachute.ops.backup.state import CREATE, DRILL, State

_AT = TimeOfDay(5, 15)
_EACH = {"weekly": timedelta(days=8), "monthly": timedelta(days=32)}
"""A day more than a timer leaves between two, so that it comes first."""


class Drills:
    """Begins a drill when the last one is too long ago; the first one comes early in the morning after the first backup."""

    def __init__(self, home: Home, jobs: BackupJobs) -> None:
        self._home = home
        self._jobs = jobs
        self._begun = date.min

    async def jobs(self, clock: Clock) -> Sequence[Job]:
        """The next drill, nothing while there is no backup or something is under way."""
        if self._jobs.running is not None or (taken := await asyncio.to_thread(self._taken, clock)) is None:
            return ()

        async def run(day: date, again: bool) -> None:
            # Whatever becomes of it: what cannot even begin is not tried each minute.
            self._begun = day
            self._jobs.begin("drill")

        return (Job("backup drill", _AT, max(taken, self._begun), run),)

    def _taken(self, clock: Clock) -> date | None:
        """The last day on which none was due yet."""
        state = State.read(self._home.root)
        if state.last_made is None:
            return None
        try:
            backup = load(self._home).backup
        except ParachuteError:
            return None
        if backup.repository is None:
            return None
        last = state.operations.get(DRILL)
        since = datetime.fromisoformat((last or state.operations[CREATE])["at"])
        return last_due(_AT, since + (_EACH[backup.drill] if last else timedelta()), clock.zone)
