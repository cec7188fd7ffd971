"""Core's own processor time in a turn, with a model that answers at once, on a warm sandboxed session."""

import time
from collections.abc import Iterator
from statistics import median

from psutil import Process

from bench.computers import scripted_computer
from bench.connection import Connection
from bench.processor_time import processor_seconds, settled_seconds
from bench.results import Result
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text

_TURNS = 30
_ANSWERS = 5
_PIECE = 20  # characters; models send a few words at a time
_SHORT, _LONG = 100, 1_100  # pieces
_PACED, _PACE = 200, 0.025  # pieces, seconds


def measure() -> Iterator[Result]:
    """To the first byte, to the first text, and for each piece of a streamed answer.

    To a moment: core's clock is read when the client has the event, so that what core does until we have read is in it too;
    the model falls silent after its first piece, so that nothing of the rest is. For a piece: the difference between answers
    of 1,100 and of 100 pieces at zero delay, divided by 1,000. The paced answer, 40 pieces a second, shows what a piece costs
    when it is stored and sent almost by itself.
    """
    with scripted_computer() as (computer, api), computer.connect() as connection:
        session = str(connection.ask("Hello!")["sessionId"])
        connection.ask("Hello again!", session)
        core = computer.core
        yield from _to_first(api, connection, core, session)
        whole = median(_of_answer(api, connection, core, session, pieces=1) for _ in range(_TURNS))
        # The nearest number of the baseline: the wall time that its loop added to a turn.
        yield Result("turn.whole", whole, "ms CPU", baseline=13.9)
        short = median(_of_answer(api, connection, core, session, pieces=_SHORT) for _ in range(_ANSWERS))
        long = median(_of_answer(api, connection, core, session, pieces=_LONG) for _ in range(_ANSWERS))
        yield Result("turn.each_piece", (long - short) / (_LONG - _SHORT), "ms CPU", budget=0.3)
        paced = _of_answer(api, connection, core, session, pieces=_PACED, pace=_PACE)
        yield Result("turn.each_piece_paced", (paced - whole) / _PACED, "ms CPU")


def _to_first(api: MessagesAPI, connection: Connection, core: Process, session: str) -> Iterator[Result]:
    bytes_used, texts_used, walls = [], [], []
    for _ in range(_TURNS):
        gate = Gate()
        api.script(several(text("First."), hold(gate, text("Rest."))))
        before, begin = settled_seconds(core), time.perf_counter()
        events = connection.chat("Hello!", session)
        next(events)
        bytes_used.append(processor_seconds(core) - before)
        walls.append(time.perf_counter() - begin)
        for event in events:
            if event["type"] == "text" and not gate.is_open:
                texts_used.append(processor_seconds(core) - before)
                gate.open()
    yield Result("turn.to_first_byte", median(bytes_used) * 1000, "ms CPU", budget=5)
    yield Result("turn.to_first_byte.wall", median(walls) * 1000, "ms")
    yield Result("turn.to_first_text", median(texts_used) * 1000, "ms CPU")


def _of_answer(
    api: MessagesAPI, connection: Connection, core: Process, session: str, *, pieces: int, pace: float = 0.0
) -> float:
    """Processor time of a whole turn in ms, with what is stored after its last event."""
    api.script(text("x" * _PIECE * pieces, chunks=pieces, delay=pace))
    before = settled_seconds(core)
    connection.ask("Please.", session)
    return (settled_seconds(core) - before) * 1000
