"""Opening the copy-on-write view of a large project."""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.results import NotMeasurable, Result
from parachute.sandbox.engines import views

_FILES, _FOLDERS, _REPEATS = 10_000, 100, 9
_OPENING = """
import sys, time
from pathlib import Path
from parachute.sandbox.engines.views import View, enter_namespace, mount
view = View(Path(sys.argv[2])).make()
begun = time.perf_counter()
enter_namespace()
mount(Path(sys.argv[1]), view)
print((time.perf_counter() - begun) * 1000)
"""


def measure() -> Iterator[Result]:
    """Yield the median of several openings, each in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="bench-views-") as text:
        folder = Path(text)
        if reason := views.unavailable(folder / "tried"):
            raise NotMeasurable(reason)
        project = folder / "project"
        for number in range(_FILES):
            path = project / f"{number % _FOLDERS}" / f"{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"file {number}\n" * 20)
        taken = []
        for number in range(_REPEATS):
            command = [sys.executable, "-c", _OPENING, str(project), str(folder / f"view{number}")]
            taken.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        yield Result("views.open_10000_files", statistics.median(taken), "ms", budget=50)
