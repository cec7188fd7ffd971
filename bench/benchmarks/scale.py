"""Growth with what a computer holds: the same requests where there is much and where there is little."""

import sys
from collections.abc import Callable, Iterator
from statistics import median

from psutil import Process

from bench.connection import Connection
from bench.filled import NO_TRANSCRIPT, Amount, FilledComputer
from bench.growing_requests import OTHERS, TRANSCRIPT, after_a_change, unchanged
from bench.memory import proportional_megabytes
from bench.processor_time import processor_seconds, settled_seconds
from bench.results import Result
from bench.stalls import Stalls, percentile_99

_LITTLE = Amount(sessions=1_000, entries=1_000, entities=1_000, modules=10, suggestions=200, folders=10)
_MUCH = Amount(sessions=100_000, entries=50_000, entities=10_000, modules=50, suggestions=10_000, folders=1_000)

_HOSTS = ("daily", "brain")
_TIMES = 15
_STARTS = 3

_BUDGETS = {
    "search_rare_word": 30,
    "search_word_of_every_title": 30,
    "search_two_letters": 30,
    "sync_manifest": 20,
    "sync_changes": 20,
    "first_sync_manifest": 50,
    "transcript": 20,
    "first_transcript": 20,
    "transcript_after_start": 20,
}
"""Measurements that are no lists; the others may cost twice what they cost where there is little."""

_GROWTH = {"start": 1.5}


def measure() -> Iterator[Result]:
    """Processor time of core and the hosts together, the median of single requests, and the factors between the two; then memory."""
    found: dict[str, dict[str, float]] = {}
    for name, amount in (("little", _LITTLE), ("much", _MUCH)):
        computer = FilledComputer(amount)
        with computer, computer.connect() as connection:
            found[name] = {}
            for what, call in (unchanged(computer, connection) | after_a_change(computer, connection)).items():
                found[name][what] = _milliseconds(computer, connection, call)
                print(f"  {name} {what}: {found[name][what]:.1f}", file=sys.stderr, flush=True)
            if name == "much":
                stalls = Stalls(computer, OTHERS)
                _wake(connection)
                memory = _memory(computer)
            computer.stop()
            starts, opened = zip(*(_start(computer) for _ in range(_STARTS)), strict=True)
            found[name] |= {"start": median(starts), "transcript_after_start": median(opened)}
    for what, value in found["much"].items():
        yield Result(f"scale.{what}", value, "ms CPU", _BUDGETS.get(what))
        growth = None if what in _BUDGETS else _GROWTH.get(what, 2)
        yield Result(f"scale.{what}_ratio", value / found["little"][what], "x", growth)
    yield Result("scale.health_beside_20_clients_p99", percentile_99(stalls.whole), "ms")
    yield Result("scale.health_beside_20_clients_max", max(stalls.whole), "ms")
    yield Result("scale.stall_beside_20_clients_p99", percentile_99(stalls.own), "ms")
    yield Result("scale.stall_beside_20_clients_max", max(stalls.own), "ms", 50)
    yield Result("scale.stall_beside_20_clients_max.cpu", max(stalls.busy), "ms CPU", 50)
    yield from memory


def _wake(connection: Connection) -> None:
    connection.get("/api/daily/today")
    connection.get("/api/brain/types")


def _milliseconds(computer: FilledComputer, connection: Connection, call: Callable[[], object]) -> float:
    _wake(connection)
    working = [computer.core, *(process for name in _HOSTS for process in computer.processes_of(name))]
    call()
    used = []
    for _ in range(_TIMES):
        for process in working:
            settled_seconds(process, quiet=0.02)
        before = _used(working)
        call()
        used.append(_used(working) - before)
    return median(used)


def _used(working: list[Process]) -> float:
    return sum(map(processor_seconds, working)) * 1000


def _memory(computer: FilledComputer) -> list[Result]:
    server = proportional_megabytes([computer.core, computer.supervisor])
    hosts = [Result(f"scale.memory_{name}", computer.megabytes_of(name), "MB", 40) for name in _HOSTS]
    return [Result("scale.memory", server, "MB", 90), *hosts]


def _start(computer: FilledComputer) -> tuple[float, float]:
    """Processor time of core in ms: until it is at rest, and for opening a long transcript for the first time then."""
    computer.start()
    computer.wait_until(lambda: computer._units() == set(computer.installed), "the modules are open", 120)
    used = settled_seconds(computer.core, quiet=0.5) * 1000
    with computer.connect() as connection:
        connection.get(f"/api/chat/{NO_TRANSCRIPT}/transcript", status=404)
        before = settled_seconds(computer.core) * 1000
        connection.get(TRANSCRIPT)
        opened = _used([computer.core]) - before
    computer.stop()
    return used, opened
