"""Finding fifty plugins: at first, and again between turns."""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.results import Result
from parachute.capabilities.plugins.library import Library
from parachute.config.settings.home import Home
from tests.capabilities.plugins.building import Installation, repository

_PLUGINS, _REPEATS = 50, 9


def measure() -> Iterator[Result]:
    """Yield what the list costs a process that has not read them, and one that has."""
    with tempfile.TemporaryDirectory(prefix="bench-plugins-") as text:
        folder = Path(text)
        installation = Installation(folder)
        for number in range(_PLUGINS):
            made = repository(folder / f"plugin-{number}", name=f"plugin-{number}")
            installation.install(made.url, programs=True)
        home = Home(installation.home.root)
        first = statistics.median(_milliseconds(Library(home)) for _ in range(_REPEATS))
        known = Library(home)
        _milliseconds(known)
        yield Result("plugins.first_list_of_50", first, "ms", budget=100)
        yield Result("plugins.list_of_50", statistics.median(_milliseconds(known) for _ in range(_REPEATS)), "ms")


def _milliseconds(library: Library) -> float:
    begun = time.process_time()
    found = library.list()
    taken = (time.process_time() - begun) * 1000
    assert len(found) == _PLUGINS
    return taken
