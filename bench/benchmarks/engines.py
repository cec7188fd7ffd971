"""The engines side by side: how long the first text takes, how many turns go through, and how much memory sessions need."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from bench import guest
from bench.computers import MeasuredComputer
from bench.connection import Connection
from bench.engines import ENGINES, computer_of, reason_missing, settle
from bench.memory import sandbox_megabytes
from bench.results import NotMeasurable, Result
from bench.waiting import seconds_to_first_text, seconds_with_spare
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text

_NEW, _WARM = 5, 15
_SESSIONS, _TURNS = 5, 6
_BUDGETS = {"cold": 800, "spare": 150, "warm": 60}


def measure() -> Iterator[Result]:
    """Each engine that this user can have; root, who gets no containers, measures all of them in the appliance's guest."""
    if guest.is_of_use():
        yield from guest.measure("engines")
        return
    missing = []
    for engine in ENGINES:
        if reason := reason_missing(engine):
            missing.append(f"{engine}: {reason}")
        else:
            yield from _of_engine(engine)
    if missing:
        raise NotMeasurable(" ".join(missing))


def _of_engine(engine: str) -> Iterator[Result]:
    level = "direct" if engine == "direct" else "sandboxed"
    with computer_of(engine) as (computer, _), computer.connect() as connection:
        connection.ask("Hello!", trustLevel=level)
        cold = median(_cold(computer, connection, level) for _ in range(_NEW))
        yield _first_text(engine, "cold", cold)
        session = connection.newest_session()
        warm = median(seconds_to_first_text(connection, session) for _ in range(_WARM))
        yield _first_text(engine, "warm", warm)
    with computer_of(engine, warm=_SESSIONS) as (computer, api):
        yield from _of_five(engine, level, computer, api)
    if engine != "direct":
        with computer_of(engine, spare=True) as (computer, _), computer.connect() as connection:
            spare = median(seconds_with_spare(computer, connection) for _ in range(_NEW))
            yield _first_text(engine, "spare", spare)


def _cold(computer: MeasuredComputer, connection: Connection, level: str) -> float:
    settle(computer)
    return seconds_to_first_text(connection, trustLevel=level)


def _first_text(engine: str, kind: str, seconds: float) -> Result:
    return Result(f"engines.{engine}.first_text_{kind}", seconds * 1000, "ms", budget=_BUDGETS[kind])


def _of_five(engine: str, level: str, computer: MeasuredComputer, api: MessagesAPI) -> Iterator[Result]:
    with ThreadPoolExecutor(_SESSIONS) as people:

        def begin(_: int) -> str:
            with computer.connect() as connection:
                return str(connection.ask("Hello!", trustLevel=level)["sessionId"])

        sessions = list(people.map(begin, range(_SESSIONS)))
        begun = time.perf_counter()
        list(people.map(lambda session: _talk(computer, session), sessions))
        minutes = (time.perf_counter() - begun) / 60
        yield Result(f"engines.{engine}.turns_per_minute", _SESSIONS * _TURNS / minutes, "turns/min")
        yield Result(f"engines.{engine}.idle_session", sandbox_megabytes(computer.others) / _SESSIONS, "MB")
        gate = Gate()
        api.default(several(text("First."), hold(gate), text("Rest.")))
        answers = [_begun(computer.connect(), session) for session in sessions]
        yield Result(f"engines.{engine}.five_sessions", sandbox_megabytes(computer.others), "MB", budget=1500)
        gate.open()
        for answer in answers:
            list(answer)


def _talk(computer: MeasuredComputer, session: str) -> None:
    with computer.connect() as connection:
        for _ in range(_TURNS):
            connection.ask("Go on.", session)


def _begun(connection: Connection, session: str) -> Iterator[dict[str, object]]:
    """The rest of an answer of which the first text is there."""
    events = connection.chat("Work!", session)
    for event in events:
        if event["type"] == "text":
            break
    return events
