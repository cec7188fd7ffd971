"""Limits that a module's process takes on before it reads the module's code, and its end when its memory is used up."""

import asyncio
import os
import resource
import sys
import threading
from typing import Any

from parachute_runner import calls

from parachute.core.errors import ModuleError
from parachute.supervisor.enforcement import counts_by_namespace

_STACK = 2 << 20  # of each thread: the usual 8 MiB would all count as data
# Of each file that it writes, its log among them, which the supervisor shortens every few seconds only. As much as a long
# recording or a large index takes, and still little enough for a small disk.
LARGEST_FILE = 1 << 30
_RESERVE = 4 << 20
EXHAUSTED = 4
"""The exit code of a process that had no memory left to take a request."""


def take_on(memory: int, processes: int | None) -> None:
    """Bound the memory of this process in bytes, the size of each file that it writes, and the number of processes in its sandbox.

    The memory is what the process may write to: it holds for each process, not for all that it starts together, and not for
    shared memory. `processes` None: there is no sandbox, and the kernel would count all of the user's processes.
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


def refuse_calls(*, programs: bool) -> None:
    """Refuse system calls that no module needs, and starting programs without the permission, from now on in all threads.

    Error: ModuleError where the kernel cannot. Only on Linux.
    """
    if sys.platform != "linux":
        return
    try:
        calls.refuse(programs=programs)
    except calls.Unfiltered as error:
        raise ModuleError(f"The module does not start: {error}.", key="calls_not_refused") from error


def end_when_exhausted(loop: asyncio.AbstractEventLoop) -> None:
    """End this process when memory is so short that the server fails, and not only the module: it would refuse for ever.

    The supervisor starts another with the next request, as after every failure.
    """

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if isinstance(context.get("exception"), MemoryError):
            os.write(2, b"The module has used up its memory, and this process ends.\n")
            os._exit(EXHAUSTED)
        loop.default_exception_handler(context)

    loop.set_exception_handler(handle)


def has_memory() -> bool:
    """True if enough memory is left to serve requests.

    A module that has a little left could fail at every request for ever. Its supervisor hears nothing of it while this is
    False, and starts another process in the end; a peak that is over soon does not matter.
    """
    try:
        bytearray(_RESERVE)  # of which the kernel makes nothing real
    except MemoryError:
        os.write(2, b"The module has used up its memory; its process will be ended if that stays so.\n")
        return False
    return True
