"""Modules as processes: what passing a request on costs, how long a sleeping one takes, and what they need while idle."""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from psutil import Process

from bench.computers import MeasuredComputer
from bench.memory import proportional_megabytes
from bench.processor_time import milliseconds_each
from bench.results import Result
from parachute.modules.registry.scaffold import create_module
from parachute.modules.registry.service import Modules
from parachute.modules.trees.hashing import tree_hash

_FILES = 2_000
_MODULES = 20
_STARTS = 9
_ROUTE = "/api/notes0/latest"


def measure() -> Iterator[Result]:
    """One module is asked; nineteen more are installed and sleep."""
    yield _hash()
    computer = MeasuredComputer()
    computer.vault.mkdir()
    modules = Modules(computer.home, computer.vault)
    with tempfile.TemporaryDirectory(prefix="modules-") as folder:
        for number in range(_MODULES):
            source = create_module(f"notes{number}", Path(folder))
            with modules.installing(str(source)) as installation:
                installation.finish()
    with computer, computer.connect() as connection:
        computer.wait_until(lambda: _units(computer) == _MODULES, "all modules are open")
        computer.wait_until(lambda: len(_hosts(computer)) == 0, "those that were described are asleep", seconds=120)
        yield Result("modules.idle_memory", proportional_megabytes([computer.core, computer.supervisor]), "MB", 90)
        yield Result("modules.supervisor_memory", proportional_megabytes([computer.supervisor]), "MB", 25)
        yield Result("modules.cold_start", 1000 * median(_starts(computer)), "ms")
        connection.get(_ROUTE)
        hosts = _hosts(computer)
        yield Result("modules.host_memory", proportional_megabytes(hosts), "MB", 40)
        passed = milliseconds_each(computer.core, partial(connection.get, _ROUTE), times=300)
        own = milliseconds_each(computer.core, partial(connection.get, "/api/health"), times=300)
        yield Result("modules.proxy_overhead", passed - own, "ms CPU")


def _hash() -> Result:
    with tempfile.TemporaryDirectory(prefix="hashed-") as folder:
        for number in range(_FILES):
            (Path(folder) / f"file{number}.py").write_text(f"value = {number}\n" * 200)
        times = []
        for _ in range(5):
            begun = process_time()
            tree_hash(Path(folder))
            times.append(process_time() - begun)
    return Result("modules.hash_of_2000_files", 1000 * median(times), "ms CPU")


def _units(computer: MeasuredComputer) -> int:
    return sum(unit["name"].startswith("module@") for unit in computer.ask_supervisor("status")["units"])


def _hosts(computer: MeasuredComputer) -> list[Process]:
    return computer.others


def _starts(computer: MeasuredComputer) -> Iterator[float]:
    for _ in range(_STARTS):
        computer.ask_supervisor("close", unit="module@notes0")
        computer.ask_supervisor("open", unit="module@notes0")
        with computer.connect() as connection:
            begun = perf_counter()
            connection.get(_ROUTE)
            yield perf_counter() - begun
