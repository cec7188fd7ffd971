"""Changes of runs: applying them from a view, looking at a view again, and the snapshot of a folder before a direct run."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from bench.results import Result
from parachute.base.database import Database
from parachute.changes import store
from parachute.changes.blobs import Blobs
from parachute.changes.service import Changes
from parachute.changes.snapshots import Snapshots
from parachute.config.settings.groups.agents import ChangesSettings

_CHANGED = 20
_TURNS = 9
_VIEW = 5_000
_PROJECT = 10_000
_CONTENT = "a line of an ordinary file\n" * 200


def measure() -> Iterator[Result]:
    """Upper layers are made by hand: what the kernel lays over a project costs the server nothing."""
    with tempfile.TemporaryDirectory(prefix="changes-") as folder:
        applied, again = asyncio.run(_applying(Path(folder)))
        yield Result("changes.apply_20_files", 1000 * applied, "ms", 100)
        yield Result("changes.look_again_at_5000", 1000 * again, "ms CPU")
        yield Result("changes.unchanged_snapshot", 1000 * _snapshot(Path(folder)), "ms CPU", 150)


async def _applying(folder: Path) -> tuple[float, float]:
    project, upper = folder / "project", folder / "upper"
    database = Database(folder / "changes.db", store.ALL)
    await database.open()
    changes = Changes(ChangesSettings(), folder / "changes", database, lambda: None)
    await changes.start()
    _fill(project, _CHANGED)
    times = []
    for turn in range(_TURNS):
        _fill(upper, _CHANGED, f"turn {turn}\n")
        await changes.begin("s", project, upper)
        begun = perf_counter()
        applied = await changes.apply("s", final=True)
        times.append(perf_counter() - begun)
        assert applied.written == _CHANGED, applied
    _fill(upper / "many", _VIEW, size=0)
    await changes.begin("s", project, upper)
    await changes.apply("s")
    await changes.apply("s")  # what was just made is read twice
    begun = process_time()
    await changes.apply("s")
    again = process_time() - begun
    await database.close()
    return median(times), again


def _snapshot(folder: Path) -> float:
    project = folder / "direct"
    _fill(project, _PROJECT, size=1)
    blobs = Blobs(folder / "contents")
    blobs.prepare()
    snapshots = Snapshots(blobs, folder / "snapshots")
    snapshots.prepare()
    snapshots.hold(1, project, snapshots.take(project))
    times = []
    for _ in range(5):
        begun = process_time()
        snapshots.take(project)
        times.append(process_time() - begun)
    return median(times)


def _fill(folder: Path, count: int, more: str = "", size: int = len(_CONTENT)) -> None:
    for number in range(count):
        path = folder / f"folder{number // 50}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{more}{number}\n{_CONTENT[:size]}")
        os.utime(path, ns=(1, number))
