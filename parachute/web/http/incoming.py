"""The body of a request as it arrives, and the moment at which the client goes away."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from typing import Any, TypeVar

Result = TypeVar("Result")

_DRAIN_LIMIT = 64 * 1024 * 1024
"""Bytes of a body that nobody wants; more than this is not waited for."""

_DRAIN_SECONDS = 10.0


class Gone(Exception):
    """The client closed the connection."""


class Incoming:
    """The incoming side of a request of an ASGI server; `has_body` as the headers say."""

    def __init__(self, receive: Callable[[], Awaitable[MutableMapping[str, Any]]], has_body: bool) -> None:
        self.has_body = has_body
        self._receive = receive
        self._complete = asyncio.Event()
        self._left = False
        if not has_body:
            self._complete.set()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body; error: Gone if the client leaves before its end."""
        while not self._complete.is_set():
            message = await self._receive()
            if message["type"] != "http.request":
                self._left = True
                self._complete.set()
                raise Gone
            if not message.get("more_body"):
                self._complete.set()
            yield message.get("body", b"")

    async def drain(self) -> None:
        """Read the rest and drop it: a client that is still sending would see a broken connection and not the answer."""
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                size = 0
                async for chunk in self.chunks():
                    size += len(chunk)
                    if size > _DRAIN_LIMIT:
                        return
        except (TimeoutError, Gone):
            pass

    async def gone(self) -> None:
        """Return when the client has left."""
        await self._complete.wait()
        while not self._left and (await self._receive())["type"] != "http.disconnect":
            pass


async def while_connected(work: Coroutine[Any, Any, Result], gone: Coroutine[Any, Any, object]) -> Result:
    """Return the result of `work`, or cancel it when `gone` returns, since nobody waits for it; error: Gone then."""
    tasks = working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(gone)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise Gone
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)
