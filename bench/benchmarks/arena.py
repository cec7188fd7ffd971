"""The arena of injections: a thousand hostile texts, and two hundred tasks of the owner's."""

import asyncio
import os
import sys
from collections.abc import Iterator

from bench.results import Result
from tests.attacks.arena.cases import CASES
from tests.attacks.arena.house import House, shares
from tests.attacks.arena.measured import COLUMNS, TARGETS, Measured, measured, trust
from tests.attacks.arena.tasks import TASKS


def measure() -> Iterator[Result]:
    """Counts over all cases, by carrier on standard error; `PARACHUTE_ARENA` takes the first so many."""
    total = Measured()
    for part in shares(CASES[: int(os.environ.get("PARACHUTE_ARENA", len(CASES)))]):
        with House(part) as house:
            before = trust(house)
            asyncio.run(house.meet_all())
            total += measured(house, before)
    print(total.table(), *total.found, sep="\n", file=sys.stderr)
    yield Result("arena.arrived", len(total.arrived), "cases")
    for column in COLUMNS:
        unit = "bytes" if column == "bytes" else "times"
        yield Result(f"arena.{column}", sum(total.counts[column].values()), unit, 1 if column in TARGETS else None)
    with House() as house:
        asked = sum(asyncio.run(house.do_all(TASKS)))
        elsewhere = house.elsewhere()
        asked += len(house.ask("GET", "/api/inbox")["items"])
        undone = [each for each in TASKS if not each.is_done(house.project(f"task-{each.number}"), elsewhere)]
    yield Result("arena.tasks_undone", len(undone), "tasks", 1)
    yield Result("arena.questions", asked / len(TASKS), "for each task", 0.2)
