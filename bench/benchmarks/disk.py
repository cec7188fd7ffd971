"""Bytes written to the disk for each 10 KB of a streamed answer."""

from collections.abc import Iterator

from bench.computers import MeasuredComputer, scripted_computer
from bench.connection import Connection
from bench.disk import require_disk, written_bytes
from bench.processor_time import settled_seconds
from bench.results import Result
from tests.support.messages_api import MessagesAPI, Reply, text

_ANSWER = "A sentence of fifty characters, as models write it. "[:50] * 200
_FAST, _SLOW = 20, 4
_CHUNKS, _DELAY = 200, 0.025


def measure() -> Iterator[Result]:
    """Averages over several answers, since a database writes its pages back only now and then.

    At zero delay, and over five seconds in 200 pieces, as a model really answers. Core and supervisor count; the transcript,
    which is written by the agent's program whatever we do, is a line of its own. The audit's batch of two seconds later is
    in it.
    """
    with scripted_computer() as (computer, api), computer.connect() as connection:
        require_disk(computer.folder)
        session = str(connection.ask("Hello!")["sessionId"])
        fast, program = _written(computer, api, connection, session, _FAST, text(_ANSWER, chunks=_CHUNKS))
        yield Result("disk.instant_answer", fast, "KB per 10 KB", budget=100)
        yield Result("disk.instant_answer.agent_program", program, "KB per 10 KB")
        slow, program = _written(computer, api, connection, session, _SLOW, text(_ANSWER, _CHUNKS, _DELAY))
        yield Result("disk.paced_answer", slow, "KB per 10 KB", budget=100)
        yield Result("disk.paced_answer.agent_program", program, "KB per 10 KB")


def _written(
    computer: MeasuredComputer, api: MessagesAPI, connection: Connection, session: str, answers: int, reply: Reply
) -> tuple[float, float]:
    own, others = [computer.supervisor, computer.core], computer.others
    settled_seconds(computer.core, quiet=2.5)
    before = written_bytes(own), written_bytes(others)
    for _ in range(answers):
        api.script(reply)
        connection.ask("Please.", session)
    settled_seconds(computer.core, quiet=2.5)
    return (
        (written_bytes(own) - before[0]) / 1000 / answers,
        (written_bytes(others) - before[1]) / 1000 / answers,
    )
