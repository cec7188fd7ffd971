"""Limits that a module's process takes on before it looks at the module's code."""

import re
import resource
import sys
import threading
from platform import release

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
    if processes is not None and _counts_by_namespace():
        _lower(resource.RLIMIT_NPROC, processes)


def not_enforced(confined: bool) -> tuple[str, ...]:
    """Sentences for the status of a machine without systemd: what of a module's permissions nothing enforces there."""
    said = ["Memory is limited for each process of a module, not for all of them together."]
    if not confined:
        said.append(
            "Without bubblewrap a module reaches the network and all of your files: nothing but its code holds it back."
        )
    elif not _counts_by_namespace():
        said.append("The number of a module's processes is not limited: the kernel is older than 5.14.")
    return tuple(said)


def _lower(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, value))


def _counts_by_namespace() -> bool:
    version = re.match(r"(\d+)\.(\d+)", release())
    return version is not None and (int(version[1]), int(version[2])) >= (5, 14)
