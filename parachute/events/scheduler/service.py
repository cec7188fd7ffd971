"""Begin jobs that are due: each once, and never twice at a time."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError
from parachute.events.scheduler.grammar import Timetable
from parachute.security.kill_switch.switch import KillSwitch

log = logging.getLogger(__name__)

_SECONDS = 60.0
"""Between two checks of the wall clock: a timer that waits for the moment itself would stand still while the machine
sleeps, and not notice that somebody has set the clock."""


class Job(Struct, frozen=True):
    """A job that is due at the days or moments of a timetable. `run` gets the day or moment, and whether it is a retry.

    `taken` is the newest one that has been run; of several missed ones only the last one is run. `retry` is the time at
    which the taken one is tried again. `run` stores it as taken before it does anything that costs.
    """

    name: str
    at: Timetable
    taken: date
    run: Callable[[date, bool], Awaitable[None]]
    retry: datetime | None = None

    def due(self, clock: Clock) -> tuple[date, bool] | None:
        """The (day or moment, whether again) to run it for now."""
        now = clock.now()
        day = self.at.last(now, clock.zone)
        if day > self.taken:
            return day, False
        return (self.taken, True) if self.retry is not None and self.retry <= now else None


Source = Callable[[], Awaitable[Sequence[Job]]]
"""Called at every check for the current jobs."""


class Scheduler:
    """Begins jobs that are due, unless agents are stopped (`kill_switch`); owns their tasks."""

    def __init__(self, clock: Clock = SYSTEM, *, kill_switch: KillSwitch | None = None) -> None:
        self.clock = clock
        self._kill_switch = kill_switch
        self._sources: list[Source] = []
        self._running: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def add(self, source: Source) -> None:
        """Add a source of jobs."""
        self._sources.append(source)
        self.reload()

    def start(self) -> None:
        """Check from now on."""
        self._task = asyncio.create_task(self._run_for_ever(), name="scheduler")

    async def close(self) -> None:
        """Begin nothing any more, and end running jobs."""
        tasks = [task for task in (self._task, *self._running.values()) if task is not None]
        self._task = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def reload(self) -> None:
        """Check now: jobs may have changed."""
        self._wake.set()

    async def resume(self) -> None:
        """Begin what became due while agents were stopped."""
        self.reload()

    def check(self) -> None:
        """Check that a job may begin now, also at a person's request; error: Stopped."""
        if self._kill_switch is not None:
            self._kill_switch.check()

    @property
    def running(self) -> frozenset[str]:
        """The names of jobs that run now."""
        return frozenset(self._running)

    async def run_due(self) -> None:
        """Begin every job that is due; while agents are stopped it stays due."""
        if self._kill_switch is not None and self._kill_switch.panic:
            return
        if self.clock.zone is None:
            # The machine's time zone may have changed.
            time.tzset()
        for source in self._sources:
            try:
                jobs = await source()
            except Exception as error:
                _report("The jobs of a source cannot be read", error)
                continue
            for job in jobs:
                if job.name not in self._running and (due := job.due(self.clock)):
                    self._begin(job, *due)

    def _begin(self, job: Job, day: date, again: bool) -> None:
        task = asyncio.create_task(self._run(job, day, again), name=f"job {job.name}")
        self._running[job.name] = task
        task.add_done_callback(lambda _: self._running.pop(job.name, None))

    @staticmethod
    async def _run(job: Job, day: date, again: bool) -> None:
        try:
            await job.run(day, again)
        except Exception as error:
            _report(f"The job {job.name} failed", error)

    async def _run_for_ever(self) -> None:
        while True:
            self._wake.clear()
            await self.run_due()
            await self.clock.wait(self._wake, _SECONDS)


def _report(what: str, error: Exception) -> None:
    if isinstance(error, ParachuteError):
        log.error("%s: %s", what, error)
    else:
        log.error("%s.", what, exc_info=error)
