"""The clock that tests advance: those who wait are woken at their moments, in order, and each before the next."""

import asyncio
from datetime import timedelta

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
