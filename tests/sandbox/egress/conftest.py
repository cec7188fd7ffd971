"""A proxy whose name server and internet are in this test: public addresses lead to servers on the loopback."""

import asyncio
import json
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from parachute.sandbox.egress.models import Limits
from parachute.sandbox.egress.service import Egress
from parachute.security.audit.service import Audit
from tests.support.connections import read_to_end

PUBLIC = "93.184.216.34"
OTHER_PUBLIC = "2606:2800:220:1:248:1893:25c8:1946"
SECONDS = 60

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Internet:
    """Names with their successive answers, and servers at public addresses."""

    def __init__(self) -> None:
        self.names: dict[str, list[Sequence[str]]] = {"api.example.org": [[PUBLIC]], "web.example.org": [[PUBLIC]]}
        self.lookups: list[str] = []
        self.reached: list[tuple[str, int]] = []
        self._servers: dict[tuple[str, int], asyncio.Server] = {}
        self._handling: set[asyncio.Task[None]] = set()

    async def serve(self, address: str, port: int, handler: Handler) -> None:
        """Put a server at an address."""

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._handle(handler, reader, writer))
            self._handling.add(task)
            task.add_done_callback(self._handling.discard)

        self._servers[address, port] = await asyncio.start_server(accept, "127.0.0.1", 0)

    async def _handle(self, handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        finally:
            writer.transport.abort() if asyncio.current_task().cancelling() else writer.close()

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """The next answer of the name server; the last one is repeated."""
        self.lookups.append(host)
        answers = self.names.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def connect(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to what is at an address."""
        self.reached.append((address, port))
        server = self._servers.get((address, port))
        if server is None:
            raise ConnectionRefusedError(111, "Connection refused")
        return await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1], limit=32768)

    async def close(self) -> None:
        """End all servers."""
        for server in self._servers.values():
            server.close()
        for task in self._handling:
            task.cancel()
        await asyncio.gather(*self._handling, return_exceptions=True)


class World:
    """A proxy with one line, `daily`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.internet = Internet()
        self.clients: list[asyncio.StreamWriter] = []
        self.path = folder / "core" / "egress.sock"
        self.audit = Audit(folder / "audit")
        self.egress: Egress = Egress(self.audit, resolve=self.internet.resolve, connect=self.internet.connect)

    async def open(self, *hosts: str, **limits: Any) -> None:
        """Open the line."""
        if limits:
            self.egress = Egress(
                self.audit,
                limits=Limits(**limits),
                resolve=self.internet.resolve,
                connect=self.internet.connect,
            )
        await self.egress.open("daily", hosts, self.path)

    async def client(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the line."""
        streams = await asyncio.open_unix_connection(self.path, limit=2**20)
        self.clients.append(streams[1])
        return streams

    async def ask(self, request: bytes) -> bytes:
        """Send, and read to the end of the connection."""
        reader, writer = await self.client()
        writer.write(request)
        answer = await read_to_end(reader)
        writer.close()
        return answer

    async def tunnel(self, target: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """An established tunnel."""
        reader, writer = await self.client()
        writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), SECONDS)
        assert head.startswith(b"HTTP/1.1 200 "), head
        return reader, writer

    async def audited(self) -> list[dict[str, Any]]:
        """Close everything and read what was recorded."""
        await self.egress.close_all()
        await self.audit.close()
        files = sorted((self.folder / "audit").glob("*.jsonl")) if (self.folder / "audit").exists() else []
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """See World; the folder has a short path because of its socket."""
    folder = Path(tempfile.mkdtemp(prefix="pe-", dir="/tmp"))
    made = World(folder)
    yield made
    for client in made.clients:
        client.transport.abort()
    await made.egress.close_all()
    await made.internet.close()
    await made.audit.close()
    shutil.rmtree(folder)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that gives back what it gets."""
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


def connect_request(target: str) -> bytes:
    """A CONNECT."""
    return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode()
