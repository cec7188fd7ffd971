"""Uvicorn for what tests answer themselves: it ends at once, where its own loop looks each tenth of a second."""

import asyncio
import socket
import threading

import uvicorn

from tests.support.waiting import SECONDS


class QuickServer(uvicorn.Server):
    """A server in a thread of its own, which says when it is ready and leaves no connection behind."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = asyncio.Event()

    def end(self) -> None:
        """Cut every connection and return from `serve`; called by any thread."""
        self.should_exit = self.force_exit = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ended.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._ended.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        # A connection that was accepted a moment ago is among the others only after some turns of the loop.
        quiet = 0
        while quiet < 5:
            connections = list(self.server_state.connections)
            for connection in connections:
                if connection.transport is not None:
                    connection.transport.abort()
            await asyncio.sleep(0.001)
            quiet = 0 if connections else quiet + 1
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=SECONDS)
        for server in self.servers:
            await server.wait_closed()
