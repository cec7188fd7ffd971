"""Routes that are read after the start, or when somebody asks for one of them before."""

import asyncio
import threading
from collections.abc import Callable, Iterable

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

_QUIET_SECONDS = 0.1
"""Who waits for the start asks within this time; reading would hold up the answer."""


class LateRoutes:
    """An ASGI application for what `app` has no route for yet: it adds the routers that `find` gives, once, and asks again.

    `otherwise` gets what is not among those either. Reading them is a sixth of core's start.
    """

    def __init__(self, app: FastAPI, find: Callable[[], Iterable[APIRouter]], otherwise: ASGIApp) -> None:
        self._app = app
        self._find = find
        self._otherwise = otherwise
        self._lock = threading.Lock()
        self._routes: list[BaseRoute] | None = None
        self._are_added = False
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if self._are_added or scope["type"] != "http":
            await self._otherwise(scope, receive, send)
            return
        await self._read_aside()
        await self._app.router(scope, receive, send)

    def read(self) -> None:
        """Add the routes now, unless that is done: all at once, in the thread of the event loop.

        Some of them would answer 405 where the path has another method in a router that is still to come. It takes 0.1 s if
        no thread has read them before.
        """
        if not self._are_added:
            self._app.router.routes.extend(self._read())
            self._are_added = True

    def start(self) -> None:
        """Read them soon, from a task that `close` ends."""
        self._task = asyncio.create_task(self._read_soon())

    async def close(self) -> None:
        """Wait for a reading that has begun, and begin none."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await asyncio.to_thread(self._lock.acquire)
            self._lock.release()

    async def _read_soon(self) -> None:
        await asyncio.sleep(_QUIET_SECONDS)
        await self._read_aside()

    async def _read_aside(self) -> None:
        await asyncio.to_thread(self._read)
        self.read()

    def _read(self) -> list[BaseRoute]:
        with self._lock:
            if self._routes is None:
                # A router that is included has each of its routes made once more, with its validators: 4 MB, and 80 ms.
                self._routes = [route for router in self._find() for route in router.routes]
            return self._routes
