"""What grows with what a computer holds: the same requests where there is much and where there is little."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median, quantiles

from psutil import Process

from bench.connection import Connection
from bench.filled import LONG_SESSION, NO_TRANSCRIPT, Amount, FilledComputer
from bench.processor_time import processor_seconds, settled_seconds
from bench.results import Result

_LITTLE = Amount(sessions=1_000, entries=1_000, modules=10, suggestions=200, folders=10)
_MUCH = Amount(sessions=100_000, entries=50_000, modules=50, suggestions=10_000, folders=1_000)

_TIMES = 15
_CLIENTS, _SECONDS = 20, 8
_STARTS = 3


def measure() -> Iterator[Result]:
    """Processor time of core and Daily's host together, the median of single requests; then the factors between the two."""
    found: dict[str, dict[str, float]] = {}
    for name, amount in (("little", _LITTLE), ("much", _MUCH)):
        computer = FilledComputer(amount)
        with computer, computer.connect() as connection:
            connection.get("/api/daily/today")
            found[name] = {}
            for what, call in _requests(computer, connection, amount).items():
                found[name][what] = _milliseconds(computer, call)
                print(f"  {name} {what}: {found[name][what]:.1f}", file=sys.stderr, flush=True)
            if name == "much":
                stalls = _stalls(computer)
            computer.stop()
            found[name]["start"] = median(_start(computer) for _ in range(_STARTS)) * 1000
    for what, value in found["much"].items():
        yield Result(f"scale.{what}", value, "ms CPU", _BUDGETS.get(what))
        if what not in _BUDGETS:
            yield Result(f"scale.{what}_ratio", value / found["little"][what], "x", _GROWTH.get(what, 2))
    yield Result("scale.health_beside_20_clients_p99", stalls[0], "ms")
    yield Result("scale.health_beside_20_clients_max", stalls[1], "ms", 50)


_BUDGETS = {
    "search_rare_word": 30,
    "search_word_of_every_title": 30,
    "search_two_letters": 30,
    "sync_manifest": 20,
    "transcript": 20,
}
_GROWTH = {"start": 1.5}


def _requests(computer: FilledComputer, connection: Connection, amount: Amount) -> dict[str, Callable[[], object]]:
    get = partial(partial, connection.get)
    search = "/api/chat?limit=500&search="
    offset, last = int(amount.sessions * 0.9 * 0.95) // 100 * 100, int(amount.entries * 0.9)
    every = "/api/daily/entries?from=1900-01-01&to=2100-01-01&limit=20&offset="
    changes = iter(range(1_000_000))
    newest = connection.newest_session()
    # Later than the files, which were written a moment ago if this computer was filled for this run.
    now = time.time() + 600

    def uncached(path: str) -> Callable[[], object]:
        # Core keeps lists until a session changes; the work is what shall be seen.
        def ask() -> None:
            connection.post(f"/api/chat/{newest}/{('archive', 'unarchive')[next(changes) % 2]}")
            connection.get(path)

        return ask

    return {
        "search_rare_word": uncached(f"{search}{amount.sessions - 77}"),
        "search_word_of_every_title": uncached(f"{search}subject"),
        "search_two_letters": uncached(f"{search}su"),
        "list_at_offset": uncached(f"/api/chat?limit=50&offset={offset}"),
        "without_transcript": get(f"/api/chat/{NO_TRANSCRIPT}"),
        "transcript": get(f"/api/chat/{LONG_SESSION}/transcript?after_compact=true"),
        "messages": get(f"/api/chat/{LONG_SESSION}"),
        "modules": get("/api/modules"),
        "suggestions": get("/api/suggestions"),
        "status": get("/api/status"),
        "sync_manifest": get("/api/sync/manifest?root=Daily"),
        "sync_changes": get(f"/api/sync/changes?root=Daily&since={now}"),
        "daily_range_at_offset": get(f"{every}{last}"),
        "daily_add": partial(connection.send, "/api/daily/entries", {"content": "A new entry of a few words."}),
    }


def _working(computer: FilledComputer) -> list[Process]:
    return [computer.core, *computer.processes_of("daily")]


def _milliseconds(computer: FilledComputer, call: Callable[[], object]) -> float:
    call()
    working = _working(computer)
    used = []
    for _ in range(_TIMES):
        for process in working:
            settled_seconds(process, quiet=0.02)
        before = sum(map(processor_seconds, working))
        call()
        used.append((sum(map(processor_seconds, working)) - before) * 1000)
    return median(used)


def _start(computer: FilledComputer) -> float:
    computer.start()
    computer.wait_until(lambda: computer._units() == set(computer.installed), "the modules are open", 120)
    used = settled_seconds(computer.core, quiet=0.5)
    computer.stop()
    return used


def _stalls(computer: FilledComputer) -> tuple[float, float]:
    """How long `/api/health` takes beside clients that ask for everything: 99 of 100, and the longest."""
    paths = (
        "/api/chat?limit=500",
        f"/api/chat/{LONG_SESSION}/transcript",
        "/api/modules",
        "/api/suggestions",
        "/api/chat?search=subject",
        "/api/daily/today",
    )
    arguments = [str(computer.port), str(_CLIENTS), str(_SECONDS), *paths]
    waits = []
    # In a process of their own: they would keep the one that measures waiting.
    with subprocess.Popen([sys.executable, "-m", "bench.clients", *arguments]) as clients, computer.connect() as probe:
        while clients.poll() is None:
            begun = time.perf_counter()
            probe.get("/api/health")
            waits.append((time.perf_counter() - begun) * 1000)
            time.sleep(0.01)
        assert clients.returncode == 0
    return quantiles(waits, n=100)[-1], max(waits)
