"""Bytes written to the disk for each 10 KB of a streamed answer, and in a day on which nobody asks for anything."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.computers import MeasuredComputer, scripted_computer
from bench.connection import Connection
from bench.disk import require_disk, written_bytes
from bench.official import OfficialComputer
from bench.processor_time import settled_seconds
from bench.results import Result
from parachute.security.keys.cli_token import CliToken
from tests.support.messages_api import MessagesAPI, Reply, text
from tests.support.virtual_clock import VirtualClock

_ANSWER = "A sentence of fifty characters, as models write it. "[:50] * 200
_FAST, _SLOW = 20, 4
_CHUNKS, _DELAY = 200, 0.025

_DAY, _HOUR = 24 * 3600, 3600
_IDLE_SECONDS, _STILL_SECONDS = 120, 10
_SETTLE_SECONDS = 600
"""Longer than any official module stays awake unasked: Chat does so for 300 s."""


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
    yield from _idle_day()


def _idle_day() -> Iterator[Result]:
    """With three modules, a prewarmed agent and search by meaning: what two minutes write, times 720, and what the clock brings.

    Nothing is asked for but, once in each hour of a clock that a day passes on, to look at it.
    """
    with tempfile.TemporaryDirectory(prefix="clock-") as folder:
        clock = VirtualClock(Path(folder))
        settings = {"agents": {"memory_floor_megabytes": 0}, "meaning": {"enabled": True}}
        computer = OfficialComputer(settings=settings, environment=clock.environment)
        computer.install("daily", "brain", "chat")
        with computer, computer.connect() as connection:
            connection.get("/api/chat")
            computer.wait_until(lambda: not _awake(computer), "the modules and the index sleep", _SETTLE_SECONDS)
            before = _still(computer)
            time.sleep(_IDLE_SECONDS)
            idle = (written_bytes(computer.processes()) - before) * _DAY / _IDLE_SECONDS
            before = _still(computer)
            owner = {"Authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}
            clock.ahead(_DAY, lambda: connection.post("/api/scheduler/reload", headers=owner), _HOUR)
            jobs = _still(computer) - before
        yield Result("disk.idle_day", (idle + jobs) / 1_000_000, "MB", budget=5)
        yield Result("disk.idle_day.jobs", jobs / 1_000_000, "MB")


def _awake(computer: OfficialComputer) -> list[str]:
    """Units that end when idle, and write back their data when they do."""
    units = computer.ask_supervisor("status")["units"]
    return [unit["name"] for unit in units if unit["process"] and unit["name"].startswith(("module@", "meaning"))]


def _still(computer: MeasuredComputer) -> int:
    """Return the bytes written once nothing has been written for a while; error: TimeoutError."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    written = written_bytes(computer.processes())
    while time.monotonic() < deadline:
        time.sleep(_STILL_SECONDS)
        before, written = written, written_bytes(computer.processes())
        if before == written:
            return written
    raise TimeoutError("Something is still writing.")


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
