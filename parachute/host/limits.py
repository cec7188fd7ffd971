"""Limits that a module's process takes on before it looks at the module's code."""

import resource
import sys
import threading

from parachute.supervisor.enforcement import counts_by_namespace

_STACK = 2 << 20  # of each thread: the usual 8 MiB would all count as data
# Of each file that it writes, its log among them, which the supervisor shortens every few seconds only. As much as a long
# recording or a large index takes, and still little enough for a small disk.
LARGEST_FILE = 1 << 30


def take_on(memory: int, processes: int | None) -> None:
    """Bound the memory of this process in bytes, the size of each file that it writes, and the number of processes in its box.

    The memory is what the process may write to: it holds for each process, not for all that it starts together, and not for
    shared memory. `processes` None: there is no box, and the kernel would count all of the user's processes.
    """
    threading.stack_size(_STACK)
    # Writing beyond it is an OSError: Python ignores the signal that would end the process.
    _lower(resource.RLIMIT_FSIZE, LARGEST_FILE)
    if sys.platform != "linux":
        return
    _lower(resource.RLIMIT_DATA, memory)
    if processes is not None and counts_by_namespace():
        _lower(resource.RLIMIT_NPROC, processes)


def _lower(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, value))
