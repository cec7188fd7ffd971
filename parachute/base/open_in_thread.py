"""Files that are opened in a thread for a coroutine, which may be cancelled meanwhile."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


async def open_in_thread(open_file: Callable[[], Found], close: Callable[[Found], object]) -> Found:
    """Open something in a thread; it is closed where nobody takes it, because the coroutine was cancelled.

    Errors: those of `open_file`.
    """
    opening = asyncio.ensure_future(asyncio.to_thread(open_file))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(lambda done: None if done.cancelled() or done.exception() else close(done.result()))
        raise
