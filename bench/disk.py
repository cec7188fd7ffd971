"""The bytes that processes write to the disk."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from psutil import NoSuchProcess, Process

from bench.results import NotMeasurable


def written_bytes(processes: Iterable[Process]) -> int:
    """Bytes that living processes caused to be written to a disk (write_bytes of /proc/PID/io).

    The kernel counts a page when it becomes dirty, so a page that is changed twice before it reaches the disk counts once.
    Not in it: what the file system adds for its journal.
    """
    total = 0
    for process in processes:
        with suppress(NoSuchProcess, FileNotFoundError, ProcessLookupError):
            total += _written(process.pid)
    return total


def require_disk(folder: Path) -> None:
    """Raise NotMeasurable where writing does not reach a disk."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        raise NotMeasurable("This needs Linux.")
    points = {fields[1]: fields[2] for line in mounts.read_text().splitlines() if (fields := line.split())}
    parents = [str(folder.resolve()), *map(str, folder.resolve().parents)]
    kind = next(points[parent] for parent in parents if parent in points)
    if kind in ("tmpfs", "ramfs"):
        raise NotMeasurable(f"{folder} lies in memory ({kind}), so nothing is written to a disk.")


def _written(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/io").read_text().splitlines()
    except PermissionError as error:
        raise NotMeasurable("Only root may see what core writes.") from error
    return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes:"))
