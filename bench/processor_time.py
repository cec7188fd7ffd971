"""The processor time of another process, to the nanosecond."""

import time
from collections.abc import Callable
from contextlib import suppress
from statistics import median

from psutil import NoSuchProcess, Process

_CPUCLOCK_SCHED = 2  # kernel/time/posix-cpu-timers.c

_SETTLE_SECONDS = 30
_IDLE_SHARE = 0.005


def processor_seconds(process: Process) -> float:
    """User and system time of a process with all its threads, also those that have ended.

    /proc/PID/stat counts in steps of 10 ms. The kernel's clock of a process is exact, and unlike the rest of /proc it may be
    read of a process that forbids others to look into it, as core does.
    """
    with suppress(OSError):
        return time.clock_gettime((~process.pid << 3) | _CPUCLOCK_SCHED)
    if not process.is_running():
        raise NoSuchProcess(process.pid)
    used = process.cpu_times()  # macOS has no such clock
    return used.user + used.system


def settled_seconds(process: Process, quiet: float = 0.1) -> float:
    """The processor time when the process has done next to nothing for `quiet` seconds; error: TimeoutError."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    used = processor_seconds(process)
    while time.monotonic() < deadline:
        time.sleep(quiet)
        before, used = used, processor_seconds(process)
        if used - before < _IDLE_SHARE * quiet:
            return used
    raise TimeoutError(f"Process {process.pid} was still busy after {_SETTLE_SECONDS} s.")


def milliseconds_each(process: Process, action: Callable[[], object], *, times: int, rounds: int = 5) -> float:
    """Processor time of `process` for one `action` of ours: the median of `rounds` averages over `times`, in ms.

    Rounds, because on a machine that does other things too, caches and clock rates change from second to second.
    """
    action()
    averages = []
    for _ in range(rounds):
        before = processor_seconds(process)
        for _ in range(times):
            action()
        averages.append((processor_seconds(process) - before) * 1000 / times)
    return median(averages)
