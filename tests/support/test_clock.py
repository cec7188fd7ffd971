"""The clock that tests advance: those who wait are woken at their moments, in order, and each before the next."""

import asyncio
from datetime import timedelta

import pytest

from tests.support import clock as module
from tests.support.clock import ManualClock


async def test_each_is_woken_at_its_moment_and_rests_before_the_next() -> None:
    clock, seen = ManualClock(), list[tuple[str, float]]()
    begin, moment = clock.elapsed(), clock.now()

    async def tick(name: str, seconds: float) -> None:
        while True:
            await clock.sleep(seconds)
            await asyncio.to_thread(seen.append, (name, clock.elapsed() - begin))

    tasks = [asyncio.create_task(tick(name, seconds), name=name) for name, seconds in (("slow", 25), ("quick", 10))]
    await clock.advance(50, "slow", "quick")
    assert seen == [
        ("quick", 10),
        ("quick", 20),
        ("slow", 25),
        ("quick", 30),
        ("quick", 40),
        ("slow", 50),
        ("quick", 50),
    ]
    assert clock.now() - moment == timedelta(seconds=50)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_an_event_that_comes_in_time_is_no_timeout() -> None:
    clock, event = ManualClock(), asyncio.Event()
    waiting = asyncio.create_task(clock.wait(event, 10))
    await clock.advance(9)
    event.set()
    assert await waiting
    assert not await clock.until_done(clock.wait(asyncio.Event(), 10))
    with pytest.raises(TimeoutError):
        async with clock.timeout(-1):
            await asyncio.Event().wait()


async def test_who_waits_in_vain_for_somebody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SECONDS", 0.01)
    clock, never = ManualClock(), asyncio.Event()
    with pytest.raises(AssertionError, match="Nobody"):
        await clock.advance(1)

    async def stick() -> None:
        await clock.sleep(1)
        await never.wait()

    stuck = asyncio.create_task(stick(), name="stuck")
    with pytest.raises(AssertionError, match="stuck"):
        await clock.advance(2)
    never.set()
    await stuck
