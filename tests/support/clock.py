"""A clock that stands still until a test advances it."""

import asyncio
import contextlib
import itertools
import math
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, TypeVar

from parachute.base.clock import Clock

Result = TypeVar("Result")

_SECONDS = 30.0
"""The longest wait for what takes milliseconds: until somebody waits for this clock, and until those that it woke rest."""


class ManualClock(Clock):
    """Shows a `moment`, and wakes whoever waits for it when a test lets time pass."""

    def __init__(self, moment: datetime = datetime(2026, 10, 20, 12, tzinfo=UTC), zone: tzinfo = UTC) -> None:
        super().__init__(zone)
        self.moment = moment.astimezone(UTC)
        self._elapsed = 1000.0
        self._numbers = itertools.count()
        self._waiting: dict[tuple[float, int], tuple[asyncio.Task[object], asyncio.Timeout]] = {}
        self._changed = asyncio.Event()

    def now(self) -> datetime:
        return self.moment

    def elapsed(self) -> float:
        return self._elapsed

    def awake(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        await self.wait(asyncio.Event(), seconds)

    @contextlib.asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
        async with asyncio.timeout(None) as limit:
            due = math.inf if seconds is None else self._elapsed + seconds
            task, place = asyncio.current_task(), (due, next(self._numbers))
            assert task is not None
            self._waiting[place] = task, limit
            self._changed.set()
            try:
                if due <= self._elapsed:
                    limit.reschedule(0)
                yield limit
            finally:
                self._waiting.pop(place, None)

    def move(self, seconds: float) -> None:
        """Let time pass, and wake all who are due, without waiting for them."""
        self._move(self._elapsed + seconds)

    async def advance(self, seconds: float, *names: str) -> None:
        """Let time pass for those who wait: each is woken at its moment, and waits again or ends before the next one is.

        The tasks of these names have to wait, now or soon, or else anybody.
        """
        end = self._elapsed + seconds
        await self._until(
            lambda: self._due() and {task.get_name() for task, _ in self._waiting.values()}.issuperset(names),
            lambda: f"Nobody waits for the clock, or not {names}.",
        )
        while True:
            woken = self._move(min([end, *self._due()]))
            await self._rest(woken)
            if not woken and self._elapsed >= end:
                return

    async def shows(self, condition: Callable[[], object], what: str) -> None:
        """Wait for a condition, which is tried whenever somebody begins to wait for the clock."""
        await self._until(condition, lambda: f"It is not so that {what}.")

    async def until_done(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do some work, and let time pass whenever anybody waits for the clock meanwhile, an hour at the most."""
        latest = self._elapsed + 3600
        task = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._changed.set())
        while not task.done():
            await self._until(lambda: task.done() or self._due(), lambda: "The work does not end.")
            if not task.done():
                assert self._elapsed < latest, "The work does not end within an hour."
                await self._rest(self._move(min(self._due())))
        return await task

    def _due(self) -> list[float]:
        return [due for due, _ in self._waiting if due < math.inf]

    def _move(self, moment: float) -> list[asyncio.Task[object]]:
        self.moment += timedelta(seconds=moment - self._elapsed)
        self._elapsed = moment
        due = [self._waiting.pop(place) for place in sorted(self._waiting) if place[0] <= moment]
        for task, limit in due:
            limit.reschedule(0)
            task.add_done_callback(lambda _: self._changed.set())
        return [task for task, _ in due]

    async def _rest(self, woken: list[asyncio.Task[object]]) -> None:
        def working() -> list[asyncio.Task[object]]:
            waiting = [task for task, _ in self._waiting.values()]
            return [task for task in woken if not task.done() and task not in waiting]

        await self._until(lambda: not working(), lambda: f"Still at work: {[task.get_name() for task in working()]}")
        for _ in range(10):
            await asyncio.sleep(0)  # what they have begun gets turns, too

    async def _until(self, holds: Callable[[], object], problem: Callable[[], str]) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(problem()) from None
