"""Finding the benchmarks: every file in `bench/benchmarks`."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator

from bench import benchmarks
from bench.results import Result

Benchmark = Callable[[], Iterator[Result]]


def names() -> list[str]:
    """The names of all benchmarks."""
    return sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))


def load(name: str) -> Benchmark:
    """The benchmark of a name: the function `measure` of its file."""
    measure: Benchmark = importlib.import_module(f"{benchmarks.__name__}.{name}").measure
    return measure
