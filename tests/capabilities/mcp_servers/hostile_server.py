"""A server elsewhere that means no good, on loopback in the test's own process: what it answers is a function."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Asked:
    """A request; `message` is its JSON, None without one."""

    method: str
    path: str
    headers: dict[str, str]
    message: dict[str, Any] | None
    writer: asyncio.StreamWriter

    @property
    def what(self) -> str | None:
        """The method of MCP."""
        return self.message.get("method") if self.message else None

    async def say(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answer at once."""
        lines = [f"HTTP/1.1 {status} Said", f"content-length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await self.writer.drain()

    async def json(self, document: Any, status: int = 200) -> None:
        """Answer with JSON."""
        await self.say(status, json.dumps(document).encode(), content_type="application/json")

    async def result(self, result: Any) -> None:
        """Answer as MCP does."""
        assert self.message is not None
        await self.json({"jsonrpc": "2.0", "id": self.message["id"], "result": result})

    async def text(self, text: str) -> None:
        """Answer a call of a tool."""
        await self.result({"content": [{"type": "text", "text": text}]})

    async def begin(self, content_type: str) -> None:
        """Begin an answer without an end."""
        self.writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n\r\n".encode())
        await self.writer.drain()

    async def for_ever(self, chunk: bytes) -> None:
        """Say the same until nobody listens."""
        while True:
            self.writer.write(chunk)
            await self.writer.drain()


Answer = Callable[[Asked], Awaitable[bool | None]]
"""Answers a request; False leaves it to the harmless server."""


class HostileServer:
    """`asked` is everything that came."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[Asked] = []
        self.origin = ""

    @property
    def url(self) -> str:
        """Its address."""
        return f"{self.origin}/mcp"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                    headers = {
                        name.lower(): value.strip()
                        for name, _, value in (line.partition(":") for line in head[1:])
                        if name
                    }
                    body = await reader.readexactly(int(headers.get("content-length", 0)))
                    method, path, _ = head[0].split(" ")
                    message = json.loads(body) if body.startswith(b"{") else None
                    asked = Asked(method, path, headers, message, writer)
                    self.asked.append(asked)
                    if await self._answer(asked) is False:
                        await harmless(asked)
                    if not headers.get("content-length") and method == "POST":
                        break
        finally:
            if asyncio.current_task().cancelling():  # type: ignore[union-attr]
                writer.transport.abort()
            else:
                writer.close()


async def harmless(asked: Asked) -> None:
    """Answer as a sound server with one tool."""
    if asked.what == "initialize":
        assert asked.message is not None
        version = asked.message["params"]["protocolVersion"]
        information = {"name": "hostile", "version": "1"}
        await asked.result({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": information})
    elif asked.what == "tools/list":
        await asked.result({"tools": [{"name": "act", "description": "Do it.", "inputSchema": {"type": "object"}}]})
    elif asked.what == "tools/call":
        await asked.text("done")
    elif asked.method == "POST":
        await asked.say(202)
    else:
        await asked.say(404)


@contextlib.asynccontextmanager
async def hostile_server(answer: Answer) -> AsyncIterator[HostileServer]:
    """Serve until the end."""
    server = HostileServer(answer)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(server.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(accept, "127.0.0.1", 0)
    server.origin = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
