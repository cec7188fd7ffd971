"""A computer that is used for long: memory, descriptors and databases may grow with what is stored, and not with what was done."""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from psutil import NoSuchProcess, Process

from bench.connection import Connection
from bench.memory import proportional_megabytes
from bench.official import OfficialComputer
from bench.results import Result
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use

MINUTES = "PARACHUTE_BENCH_MINUTES"
"""Minutes of the soak; an hour shows what two do not."""

_WARM_UP = 0.25
"""Of the time: what is read once, and what fills up to its bound, is no growth."""

_REPORT = 250
_WATCHED = ("supervisor", "core", "meaning", "brain", "daily", "chat")
_PROJECT = "Projects/soak"
_FIRST_DAY = date(2025, 1, 1)


def measure() -> Iterator[Result]:
    """Mixed work, one after the other: entries, knowledge, chats with a tool in a project and their undo, searches, sync."""
    with MessagesAPI() as api:
        api.default(_answer)
        environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-bench", "ANTHROPIC_BASE_URL": api.url}
        settings = {"agents": {"spare": False}, "meaning": {"enabled": True}, "daily_spending_limit": 100_000}
        computer = OfficialComputer(settings=settings, environment=environment)
        computer.install("brain", "daily", "chat")
        (computer.vault / _PROJECT).mkdir(parents=True)
        with computer, computer.connect() as connection:
            yield from _used(computer, connection, float(os.environ.get(MINUTES) or 2) * 60)


def _used(computer: OfficialComputer, connection: Connection, seconds: float) -> Iterator[Result]:
    begun, operations, rounds = time.monotonic(), 0, 0
    first: tuple[int, dict[str, float]] | None = None
    while (spent := time.monotonic() - begun) < seconds:
        if first is None and spent >= seconds * _WARM_UP:
            first = operations, _sizes(computer)
        before = operations
        operations += _round(connection, rounds)
        rounds += 1
        if operations // _REPORT != before // _REPORT:
            _show(operations, _sizes(computer))
    last = _sizes(computer)
    _show(operations, last)
    at, sizes = first or (0, last)
    thousands = max(1, operations - at) / 1000
    yield Result("soak.operations", operations, "")
    for name, value in last.items():
        unit = name.rpartition(" ")[2]
        yield Result(
            f"soak.{name.replace(' ', '.')}", (value - sizes.get(name, value)) / thousands, f"{unit} a thousand"
        )


def _round(connection: Connection, number: int) -> int:
    words = f"note{number} about the harbour and the boat number {number % 97}"
    # Nobody writes thousands of entries in a day, which `today` would answer all at once.
    day = _FIRST_DAY + timedelta(days=number % 365)
    connection.send("/api/daily/entries", {"content": words, "date": day.isoformat()})
    connection.get(f"/api/daily/search?q=note{number}")
    connection.get("/api/daily/today")
    connection.get("/api/brain/search?q=harbour")
    connection.get("/api/sync/manifest?root=Daily&pattern=*&include_binary=false&quick=true")
    if number % 3 == 0:
        connection.send("/api/brain/entities", {"entity_type": "person", "data": {"name": f"Person {number}"}})
        return 6
    if number % 5 == 1:
        said = connection.ask(f"Write {number}.", workingDirectory=_PROJECT)
        session = str(said["sessionId"])
        connection.ask("And again.", session)
        connection.send(f"/api/chat/{session}/undo", {})
        return 8
    return 5


def _answer(body: dict[str, Any]) -> Reply:
    """Call a tool for each message, and say so."""
    last = body["messages"][-1]["content"]
    if "tool_result" in json.dumps(last) or not any(tool.get("name") == "Bash" for tool in body.get("tools", ())):
        return text("Done.")
    return tool_use("Bash", {"command": "date +%N >> log.txt", "description": "Write"})


def _sizes(computer: OfficialComputer) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, processes in _processes(computer).items():
        found[f"{name} MB"] = proportional_megabytes(processes)
        found[f"{name} descriptors"] = sum(each.num_fds() for each in processes)
    for place, root in (("state", computer.home.root), ("vault", computer.vault)):
        sizes = [_size(path) for path in root.rglob("*.db*")]
        found[f"{place} databases MB"] = sum(sizes) / (1 << 20)
    found["sandboxes"] = sum(unit["name"].startswith("sandbox@") for unit in _units(computer))
    return found


def _processes(computer: OfficialComputer) -> dict[str, list[Process]]:
    found = {"supervisor": [computer.supervisor]}
    for unit in _units(computer):
        name = str(unit["name"]).removeprefix("module@")
        if name in _WATCHED and unit["process"]:
            with suppress(NoSuchProcess):
                host = Process(unit["process"])
                found[name] = [host, *host.children(recursive=True)] if name != "core" else [host]
    return found


def _units(computer: OfficialComputer) -> list[dict[str, Any]]:
    units: list[dict[str, Any]] = computer.ask_supervisor("status")["units"]
    return units


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _show(operations: int, sizes: Mapping[str, float]) -> None:
    said = ", ".join(f"{name} {value:.1f}" for name, value in sizes.items())
    print(f"{operations} operations: {said}", file=sys.stderr, flush=True)
