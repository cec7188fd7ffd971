"""A proxy whose name server and internet are in this test: public addresses lead to servers on the loopback."""

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.sandbox.egress.models import Limits
from parachute.sandbox.egress.service import Egress
from parachute.security.audit.service import Audit
from tests.sandbox.egress.internet import Internet
from tests.support.connections import read_to_end

OTHER_PUBLIC = "2606:2800:220:1:248:1893:25c8:1946"
SECONDS = 60


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
