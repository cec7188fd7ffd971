"""Named pipes into which programs that a test starts write a line when they have come to a point."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from tests.support.waiting import SECONDS

Line = Callable[[], Awaitable[str]]


@contextlib.asynccontextmanager
async def lines_in(path: Path) -> AsyncIterator[Line]:
    """Make a pipe, and give a function that waits for the next line in it; nobody who writes waits for a reader."""
    os.mkfifo(path)
    reader = asyncio.StreamReader()
    # Open for writing too: the pipe does not end with the first program that has written.
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), file
    )

    async def line() -> str:
        try:
            async with asyncio.timeout(SECONDS):
                return (await reader.readline()).decode().rstrip("\n")
        except TimeoutError:
            raise AssertionError(f"Nothing has written a line into {path}.") from None

    try:
        yield line
    finally:
        transport.close()
        path.unlink()
