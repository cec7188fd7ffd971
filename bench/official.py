"""A computer with official modules, and what is measured of each of them."""

import importlib.util
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from types import ModuleType
from typing import Self
from urllib.parse import quote

from psutil import Process

from bench.computers import MeasuredComputer
from bench.connection import Connection
from bench.memory import proportional_megabytes
from bench.processor_time import processor_seconds
from bench.results import Result
from parachute.modules.registry.service import Modules

MODULES = Path(__file__).parents[1] / "modules"
_STARTS = 7


class OfficialComputer(MeasuredComputer):
    """A computer that is not started yet, with some official modules installed; its vault may be filled before."""

    installed: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        super().__enter__()
        self.wait_until(lambda: self._units() == set(self.installed), "the modules are open")
        return self

    def install(self, *names: str) -> None:
        """Install modules as `parachute setup` does."""
        self.installed = names
        self.vault.mkdir(exist_ok=True)
        modules = Modules(self.home, self.vault)
        for name in names:
            with modules.installing(f"parachute://{name}") as installation:
                installation.finish()

    def processes_of(self, name: str) -> list[Process]:
        """The host of a module that runs, with the processes of its sandbox."""
        for unit in self.ask_supervisor("status")["units"]:
            if unit["name"] == f"module@{name}" and unit["process"]:
                host = Process(unit["process"])
                return [host, *host.children(recursive=True)]
        raise AssertionError(f"the module {name} does not run")

    def megabytes_of(self, name: str) -> float:
        """PSS of a module's host."""
        return proportional_megabytes(self.processes_of(name))

    def put_to_sleep(self, name: str) -> None:
        """End the host of a module; the next request starts it again."""
        for operation in ("close", "open"):
            self.ask_supervisor(operation, unit=f"module@{name}")

    def milliseconds_to_wake(self, name: str, path: str, status: int = 200) -> float:
        """From asking a module that sleeps to its answer: the median of several starts."""
        spent = []
        for _ in range(_STARTS):
            self.put_to_sleep(name)
            with self.connect() as connection:
                begun = time.perf_counter()
                connection.get(path, status=status)
                spent.append((time.perf_counter() - begun) * 1000)
        return median(spent)

    def _units(self) -> set[str]:
        names = {str(unit["name"]) for unit in self.ask_supervisor("status")["units"]}
        return {name.removeprefix("module@") for name in names if name.startswith("module@")}


def generator(module: str, name: str = "many") -> ModuleType:
    """A file of a module's tests: `many` fills a vault."""
    path = MODULES / module / "tests" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{module}_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    # Where its data classes look for what they belong to.
    sys.modules[loaded.__name__] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def slowest(
    computer: OfficialComputer, module: str, name: str, budget: float | None, calls: Iterable[Callable[[], object]]
) -> Iterator[Result]:
    """The 95th percentile of calls in ms: waiting, and the processor time of core and the module's host together."""
    working = [computer.core, *computer.processes_of(module)]
    spent, used = [], []
    for call in calls:
        before, begun = sum(map(processor_seconds, working)), time.perf_counter()
        call()
        spent.append((time.perf_counter() - begun) * 1000)
        used.append((sum(map(processor_seconds, working)) - before) * 1000)
    yield Result(f"{module}.{name}_p95", quantiles(spent, n=20)[-1], "ms", budget)
    yield Result(f"{module}.{name}_p95.cpu", quantiles(used, n=20)[-1], "ms CPU")


def gets(connection: Connection, pattern: str, words: Iterable[str]) -> list[Callable[[], object]]:
    """A request for each word, which takes the place of `%s` in the path."""
    return [partial(connection.get, pattern.replace("%s", quote(word, safe=""))) for word in words]


def posts(connection: Connection, path: str, field: str, texts: Iterable[str]) -> list[Callable[[], object]]:
    """A request for each text, which is a member of its body."""
    return [partial(connection.send, path, {field: text}) for text in texts]
