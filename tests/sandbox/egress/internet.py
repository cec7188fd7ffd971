"""An internet within a test: names and public addresses that lead to servers on the loopback."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

PUBLIC = "93.184.216.34"

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Internet:
    """Names with their successive answers, and servers at public addresses."""

    def __init__(self) -> None:
        self.names: dict[str, list[Sequence[str]]] = {"api.example.org": [[PUBLIC]], "web.example.org": [[PUBLIC]]}
        self.lookups: list[str] = []
        self.reached: list[tuple[str, int]] = []
        self._servers: dict[tuple[str, int], asyncio.Server] = {}
        self._handling: set[asyncio.Task[None]] = set()

    async def serve(self, address: str, port: int, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        """Put a server at an address, with TLS if there is a context for it."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._handle(handler, reader, writer))
            self._handling.add(task)
            task.add_done_callback(self._handling.discard)

        self._servers[address, port] = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)

    async def _handle(self, handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        finally:
            task = asyncio.current_task()
            assert task is not None
            writer.transport.abort() if task.cancelling() else writer.close()

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The next answer of the name server; the last one is repeated."""
        self.lookups.append(host)
        answers = self.names.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def connect(
        self, address: str, port: int, **options: Any
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to what is at an address."""
        self.reached.append((address, port))
        server = self._servers.get((address, port))
        if server is None:
            raise ConnectionRefusedError(111, "Connection refused")
        port = server.sockets[0].getsockname()[1]
        return await asyncio.open_connection("127.0.0.1", port, limit=32768, **options)

    async def close(self) -> None:
        """End all servers."""
        for server in self._servers.values():
            server.close()
        # A connection that was accepted in the last moment begins to be handled a step later, and closing one takes another.
        for _ in range(3):
            handling = tuple(self._handling)
            for task in handling:
                task.cancel()
            await asyncio.gather(*handling, return_exceptions=True)
            await asyncio.sleep(0)
