"""Processor time of core for the routes that an app asks again and again."""

import itertools
from collections.abc import Iterator
from functools import partial
from statistics import median

from bench.computers import MeasuredComputer
from bench.processor_time import milliseconds_each
from bench.results import Result
from bench.stored_sessions import store_sessions
from parachute.config.vault.service import Vault

_LIST = "/api/chat?limit=500"
_BUDGET = 3.0
_ROUNDS = 11
_BASELINE = 17.8  # with 1,000 sessions; 100,000 were not measured there


def measure() -> Iterator[Result]:
    """`/api/health`, and the list of sessions: unchanged, answered by 304, and after a change before each request.

    A change is to archive a session or take it back; its own processor time is measured alone and subtracted.
    """
    changed = {}
    for count in (1_000, 100_000):
        computer = MeasuredComputer()
        store_sessions(Vault(computer.vault), count)
        with computer, computer.connect() as connection:
            core = computer.core
            if count == 1_000:
                value = milliseconds_each(core, partial(connection.get, "/api/health"), times=300)
                yield Result("routes.health", value, "ms CPU", baseline=0.38)
            baseline = _BASELINE if count == 1_000 else None
            value = milliseconds_each(core, partial(connection.get, _LIST), times=60)
            yield Result(f"routes.list_unchanged_{count}", value, "ms CPU", _BUDGET, baseline)
            known = {"if-none-match": connection.etag(_LIST)}
            value = milliseconds_each(core, partial(connection.get, _LIST, status=304, headers=known), times=200)
            yield Result(f"routes.list_not_modified_{count}", value, "ms CPU", _BUDGET)
            changed[count] = _after_change(computer)
            yield Result(f"routes.list_changed_{count}", changed[count], "ms CPU", _BUDGET, baseline)
    yield Result("routes.list_changed_ratio", changed[100_000] / changed[1_000], "x", 1.3)


def _after_change(computer: MeasuredComputer) -> float:
    with computer.connect() as connection:
        newest = connection.newest_session()
        changes = itertools.cycle(("archive", "unarchive"))

        def change() -> None:
            connection.post(f"/api/chat/{newest}/{next(changes)}")

        def change_and_list() -> None:
            change()
            connection.get(_LIST)

        # One right after the other: the machine's speed changes from second to second, and by more than what is looked for.
        each = partial(milliseconds_each, computer.core, times=30, rounds=1)
        return median(each(change_and_list) - each(change) for _ in range(_ROUNDS))
