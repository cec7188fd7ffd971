"""Routes that are loaded with the first request to one of their paths: hardly anybody asks for all of them, and they cost 7 MB."""

import asyncio
import threading
from collections.abc import Callable, Mapping

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

Find = Callable[[], APIRouter]

_QUIET_SECONDS = 0.1
"""Interval within which clients ask that wait for the start; reading would hold up the answer."""


def part_of(path: str) -> str:
    """The part of a path by which its routes are found: what follows /api, or else the first one with its slash."""
    parts = path.split("/", 3)
    if len(parts) > 2 and parts[1] == "api":
        return parts[2]
    return f"/{parts[1]}" if len(parts) > 1 else "/"


def _precedence(route: BaseRoute) -> list[int]:
    """A sort key by which `/chat/permissions` precedes `/chat/{session}`, and that what takes any rest of a path."""
    segments = getattr(route, "path", "").split("/")
    return [2 if ":path}" in segment else int(segment.startswith("{")) for segment in segments]


class LateRoutes:
    """An ASGI application for what `app` has no route for yet: it adds the routes of that part of `table`, once, and asks again.

    `table` has the routers for each part of a path (see `part_of`), `early` is read soon after the start. `otherwise` gets what
    is not among those either.
    """

    def __init__(self, app: FastAPI, table: Mapping[str, tuple[Find, ...]], otherwise: ASGIApp, early: str) -> None:
        self._app = app
        self._table = table
        self._otherwise = otherwise
        self._early = early
        self._lock = threading.Lock()
        self._found: dict[str, list[BaseRoute]] = {}
        self._added: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        part = part_of(scope["path"]) if scope["type"] == "http" else None
        if part is None or part in self._added or part not in self._table:
            await self._otherwise(scope, receive, send)
            return
        await self._read_aside(part)
        await self._app.router(scope, receive, send)

    def read(self) -> None:
        """Add all routes now, in the thread of the event loop: 0.1 s for those that no thread has read before."""
        for part in self._table:
            self._add(part, self._read(part))

    def start(self) -> None:
        """Read the early ones soon, from a task that `close` ends."""
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
        await self._read_aside(self._early)

    async def _read_aside(self, part: str) -> None:
        self._add(part, await asyncio.to_thread(self._read, part))

    def _add(self, part: str, routes: list[BaseRoute]) -> None:
        # All of a part at once: some would answer 405 where the path has another method in a router that is still to come.
        if part not in self._added:
            self._app.router.routes.extend(routes)
            self._added.add(part)

    def _read(self, part: str) -> list[BaseRoute]:
        with self._lock:
            if part not in self._found:
                # A router that is included has each of its routes made once more, with its validators: 4 MB, and 80 ms.
                routes = [route for find in self._table[part] for route in find().routes]
                here = [route for route in routes if part_of(getattr(route, "path", "")) == part]
                self._found[part] = sorted(here, key=_precedence)
            return self._found[part]
