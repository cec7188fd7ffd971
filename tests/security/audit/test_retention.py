"""Old days go, whole ones only, and nobody takes that for tampering."""

from datetime import timedelta

from parachute.security.audit.days import Days
from parachute.security.audit.verifying import verify

from .conftest import Recorded, note


async def days_of(recorded: Recorded, number: int, **options: int) -> list[str]:
    for _ in range(number):
        audit = recorded.open(**options)
        note(audit, "x" * 400)
        await audit.close()
        recorded.clock.moment += timedelta(days=1)
    assert not verify(Days(recorded.folder), recorded.sealed()).problems
    return Days(recorded.folder).names()


async def test_days_that_are_too_old(recorded: Recorded) -> None:
    assert await days_of(recorded, 5, keep_days=3) == ["2026-02-01", "2026-02-02", "2026-02-03"]


async def test_days_that_are_too_many(recorded: Recorded) -> None:
    await recorded.write(2000, error="y" * 500, success=False)
    recorded.clock.moment += timedelta(days=1)
    assert await days_of(recorded, 3, keep_megabytes=1) == ["2026-01-31", "2026-02-01", "2026-02-02"]


async def test_a_day_that_somebody_else_removed_is_missing(recorded: Recorded) -> None:
    await days_of(recorded, 3)
    Days(recorded.folder).remove("2026-01-30")
    (problem,) = verify(Days(recorded.folder), recorded.sealed()).problems
    assert (problem.day, problem.kind) == ("2026-01-30", "day_missing")
