"""An export of 2,000 conversations: a message of it, and a conversation that comes again unchanged."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from psutil import Process

from bench.official import OfficialComputer
from bench.processor_time import processor_seconds
from bench.results import Result
from tests.chat.imports import many

_CONVERSATIONS, _MESSAGES, _WORDS = 2_000, 10, 500


def measure() -> Iterator[Result]:
    """Processor time of core and the module's host together, and the most memory that each has had."""
    computer = OfficialComputer()
    computer.install("imports")
    with TemporaryDirectory(prefix="export-") as folder, computer:
        path = Path(folder) / "export.zip"
        path.write_bytes(many.export(range(_CONVERSATIONS), messages=_MESSAGES, words=_WORDS))
        computer.command("import", "list")
        first, found = _import(computer, path)
        yield Result("imports.message", 1000 * first / found["messages"], "ms CPU", 2)
        again, found = _import(computer, path)
        assert (found["imported"], found["skipped"]) == (0, found["conversations"]), found
        yield Result("imports.unchanged_conversation", 1000 * again / found["conversations"], "ms CPU", 3)
        yield Result("imports.memory", max(map(_most_megabytes, _working(computer))), "MB", 250)


def _import(computer: OfficialComputer, path: Path) -> tuple[float, dict[str, int]]:
    working = _working(computer)
    before = sum(map(processor_seconds, working))
    done = computer.command("import", "chatgpt", str(path), "--json")
    assert done.returncode == 0, done.stderr
    return sum(map(processor_seconds, working)) - before, json.loads(done.stdout)


def _working(computer: OfficialComputer) -> list[Process]:
    return [computer.core, *computer.processes_of("imports")]


def _most_megabytes(process: Process) -> float:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
