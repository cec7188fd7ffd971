"""Looking what is due, and beginning it: each job once a day, and never twice at a time."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo

from parachute.errors import ParachuteError
from parachute.panic.brake import Brake
from parachute.scheduler.times import TimeOfDay, last_due

log = logging.getLogger(__name__)

_SECONDS = 60.0
"""Between two looks at the clock on the wall: a timer that waits for the moment itself would stand still while the machine
sleeps, and not notice that somebody has set the clock."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock on the wall; without a `zone` it is that of this machine."""

    now: Callable[[], datetime] = _now
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """Something that is due once a day. `run` gets the day, and whether it is done again because it failed.

    `taken` is the newest day that was seen to; of several days that were missed only the last one is made up for. `retry`
    is when the taken day is tried again. `run` notes the day as taken before it does anything that costs.
    """

    name: str
    at: TimeOfDay
    taken: date
    run: Callable[[date, bool], Awaitable[None]]
    retry: datetime | None = None

    def due(self, clock: Clock) -> tuple[date, bool] | None:
        """The (day, whether again) to run it for now."""
        now = clock.now()
        day = last_due(self.at, now, clock.zone)
        if day > self.taken:
            return day, False
        return (self.taken, True) if self.retry is not None and self.retry <= now else None


Source = Callable[[], Awaitable[Sequence[Job]]]
"""Asked at every look for the jobs that there are now."""


class Scheduler:
    """Begins what is due, unless the `brake` is pulled; owns the tasks of all jobs."""

    def __init__(self, clock: Clock | None = None, *, seconds: float = _SECONDS, brake: Brake | None = None) -> None:
        self.clock = clock or Clock()
        self._brake = brake
        self._seconds = seconds
        self._sources: list[Source] = []
        self._running: dict[str, asyncio.Task[None]] = {}
        self._look_now = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    def add(self, source: Source) -> None:
        """Ask a source from the next look on."""
        self._sources.append(source)
        self.reload()

    def start(self) -> None:
        """Look from now on."""
        self._looking = asyncio.create_task(self._look_for_ever(), name="scheduler")

    async def close(self) -> None:
        """Begin nothing any more, and end what runs."""
        tasks = [task for task in (self._looking, *self._running.values()) if task is not None]
        self._looking = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def reload(self) -> None:
        """Look now: jobs may have changed."""
        self._look_now.set()

    async def resume(self) -> None:
        """Begin what became due while the brake was pulled."""
        self.reload()

    def check(self) -> None:
        """See that something may begin now, also what a person asks for; error: Stopped."""
        if self._brake is not None:
            self._brake.check()

    @property
    def running(self) -> frozenset[str]:
        """The names of jobs that run now."""
        return frozenset(self._running)

    async def look(self) -> None:
        """Begin everything that is due now; while the brake is pulled it stays due."""
        if self._brake is not None and self._brake.panic:
            return
        if self.clock.zone is None:
            # Somebody may have told this machine that it is in another zone.
            time.tzset()
        for source in self._sources:
            try:
                jobs = await source()
            except Exception as error:
                _report("Jobs cannot be looked for", error)
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

    async def _look_for_ever(self) -> None:
        while True:
            self._look_now.clear()
            await self.look()
            # Not wait_for: before Python 3.12 it could swallow the cancellation by which this ends.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._look_now.wait()


def _report(what: str, error: Exception) -> None:
    if isinstance(error, ParachuteError):
        log.error("%s: %s", what, error)
    else:
        log.error("%s.", what, exc_info=error)
