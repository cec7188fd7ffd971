"""Carrying bytes from one connection to another, never more than fit into the buffers."""

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType

CHUNK = 64 * 1024
_CLOSING_SECONDS = 2.0
_CLOSING_BYTES = 256 * 1024


class Idle:
    """Ends the block it surrounds, as TimeoutError, when nothing touched it for `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._touched = self._loop.time()
        self._timeout = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None

    def touch(self) -> None:
        """Count from now on."""
        self._touched = self._loop.time()

    async def __aenter__(self) -> "Idle":
        await self._timeout.__aenter__()
        self._check()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._timeout.__aexit__(kind, error, traceback)

    def _check(self) -> None:
        # One timer that checks again, instead of a new one with every chunk.
        due = self._touched + self._seconds
        if due <= self._loop.time():
            self._timeout.reschedule(self._loop.time())
        else:
            self._timer = self._loop.call_at(due, self._check)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passed: Callable[[int], None]) -> None:
    """Carry bytes until the reader ends, then end the writer's half too; `passed` hears of every chunk's size."""
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()
        passed(len(data))
    with contextlib.suppress(OSError):  # the other side closed both halves already
        writer.write_eof()


async def drain_wholly(writer: asyncio.StreamWriter) -> None:
    """Wait until all that was written has gone out, not only most of it."""
    writer.transport.set_write_buffer_limits(0)
    await writer.drain()


async def close_gracefully(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close after a last answer: what the client still sends is read for a moment, or a reset would eat the answer."""
    try:
        async with asyncio.timeout(_CLOSING_SECONDS):
            await drain_wholly(writer)
            writer.write_eof()
            left = _CLOSING_BYTES
            while left > 0 and (data := await reader.read(CHUNK)):
                left -= len(data)
    except OSError:  # TimeoutError is one too
        pass
    finally:
        writer.transport.abort()
