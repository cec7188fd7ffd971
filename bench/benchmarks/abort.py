"""From asking to stop to the `aborted` event, while the model is silent."""

import time
from collections.abc import Iterator
from statistics import median

from bench.computers import MeasuredComputer, scripted_computer
from bench.connection import Connection
from bench.results import Result
from tests.support.messages_api import Gate, MessagesAPI, hold

_ROUNDS = 9


def measure() -> Iterator[Result]:
    """Wall time on warm sandboxed sessions: the median, and the longest."""
    with scripted_computer() as (computer, api), computer.connect() as connection:
        session = str(connection.ask("Hello!")["sessionId"])
        seconds = [_abort(computer, api, connection, session) for _ in range(_ROUNDS)]
    yield Result("abort.to_event", median(seconds), "s", budget=0.5, baseline=5.7)
    yield Result("abort.to_event.longest", max(seconds), "s", budget=0.5)


def _abort(computer: MeasuredComputer, api: MessagesAPI, connection: Connection, session: str) -> float:
    gate = Gate()
    api.script(hold(gate))
    with computer.connect() as other:
        events = connection.chat("Think.", session)
        next(events)
        gate.wait_reached()
        begin = time.perf_counter()
        other.post(f"/api/chat/{session}/abort")
        *_, last = events
        seconds = time.perf_counter() - begin
    assert last["type"] == "aborted", last
    return seconds
