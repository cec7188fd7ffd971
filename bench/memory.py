"""Memory of processes, with shared pages counted once."""

from collections.abc import Iterable
from pathlib import Path

from psutil import Process

from bench.results import NotMeasurable


def proportional_megabytes(processes: Iterable[Process]) -> float:
    """The sum of the processes' PSS in MB (1024 * 1024 bytes)."""
    return sum(_pss(process.pid) for process in processes) / 1024


def _pss(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except PermissionError as error:
        # Core forbids other programs of its own user to look into its memory.
        raise NotMeasurable("Only root may see how much memory core shares.") from error
    except FileNotFoundError as error:
        raise NotMeasurable("This needs Linux.") from error
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
