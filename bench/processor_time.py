"""The processor time of another process, to the nanosecond."""

import time
from collections.abc import Callable
from contextlib import suppress
from statistics import median

from psutil import NoSuchProcess, Process

_CPUCLOCK_SCHED = 2  # kernel/time/posix-cpu-timers.c


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
