"""What a module's process does when its memory is used up."""

import asyncio
import os
from typing import Any

_SPARE = 4 << 20
EXHAUSTED = 4
"""The exit code of a process that had no memory left to take a request."""


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
    """Whether there is any worth speaking of.

    A module that has a little left could fail at every request for ever. Its supervisor hears nothing of it while this is
    False, and starts another process in the end; a peak that is over soon does not matter.
    """
    try:
        bytearray(_SPARE)  # of which the kernel makes nothing real
    except MemoryError:
        os.write(2, b"The module has used up its memory; its process will be ended if that stays so.\n")
        return False
    return True
