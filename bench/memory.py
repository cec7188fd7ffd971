"""Memory of processes, with shared pages counted once."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from psutil import NoSuchProcess, Process

from bench.results import NotMeasurable


def proportional_megabytes(processes: Iterable[Process]) -> float:
    """The sum of the processes' PSS in MB (1024 * 1024 bytes)."""
    return sum(_pss(process.pid) for process in processes) / 1024


def sandbox_megabytes(processes: Iterable[Process]) -> float:
    """The sum of the PSS of agents, their sandboxes and their launchers, in MB.

    Runners hide from everybody but root: of those, what is theirs alone.
    """
    total = 0
    for process in processes:
        with suppress(NoSuchProcess, FileNotFoundError, ProcessLookupError):
            try:
                total += _pss(process.pid)
            except NotMeasurable:
                total += _own(process.pid)
    return total / 1024


def _own(process: int) -> int:
    rows = (line.split() for line in Path(f"/proc/{process}/status").read_text().splitlines())
    return sum(int(row[1]) for row in rows if row and row[0] in ("RssAnon:", "RssShmem:"))


def _pss(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except PermissionError as error:
        # Core forbids other programs of its own user to look into its memory.
        raise NotMeasurable("Only root may see how much memory core shares.") from error
    except FileNotFoundError as error:
        raise NotMeasurable("This needs Linux.") from error
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
