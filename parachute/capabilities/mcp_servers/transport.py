"""Messages of MCP over a server's socket, one JSON document a line, within bounds: the server may be hostile."""

import asyncio
import codecs
import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio

from parachute.base.errors import ParachuteError, Unavailable

log = logging.getLogger(__name__)

MESSAGE_LIMIT = 2 * 1024 * 1024
"""Bytes of one message of a server."""

_MESSAGES, _BYTES = 2_000, 32 * 1024 * 1024
"""Messages and bytes that a server may send for each request."""

_PARSED_HERE = 64 * 1024


class SocketLink:
    """One connection to a server's socket, which starts it; `reason` says why it is over, in a sentence."""

    failure: ParachuteError | None = None

    def __init__(self, name: str, path: Path) -> None:
        self.ended = asyncio.Event()
        self.reason = f"The MCP server {name} has ended."
        self._name = name
        self._path = path
        self._messages, self._bytes = _MESSAGES, _BYTES

    def asked(self) -> None:
        """Begin a request: the server may send as much again."""
        self._messages, self._bytes = _MESSAGES, _BYTES

    def error(self) -> ParachuteError:
        """Return why the connection has ended."""
        return Unavailable(self.reason, key="server_ended")

    def cleaned(self, text: str) -> str:
        """Return what the server says as it is: its environment was given to it."""
        return text

    @contextlib.asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """Open the streams of a client session; error: Unavailable."""
        try:
            reader, writer = await asyncio.open_unix_connection(self._path, limit=MESSAGE_LIMIT)
        except OSError as error:
            raise Unavailable(
                f"The MCP server {self._name} cannot be started: {error.strerror}.", key="server_not_started"
            ) from error
        incoming, read = anyio.create_memory_object_stream[Any](0)
        write, outgoing = anyio.create_memory_object_stream[Any](0)
        tasks = [
            asyncio.create_task(self._receive(reader, incoming), name=f"from {self._name}"),
            asyncio.create_task(self._send(writer, outgoing), name=f"to {self._name}"),
        ]
        try:
            yield read, write
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (incoming, read, write, outgoing):
                await stream.aclose()
            writer.transport.abort()

    async def _receive(self, reader: asyncio.StreamReader, incoming: Any) -> None:
        # Not at the top, for the server's start.
        from mcp.shared.message import SessionMessage
        from mcp.types import jsonrpc_message_adapter

        def parsed(line: bytes) -> Any:
            return jsonrpc_message_adapter.validate_json(line, by_name=False)

        try:
            while True:
                line = (await reader.readuntil()).removeprefix(codecs.BOM_UTF8)  # some programs begin with it
                self._messages -= 1
                self._bytes -= len(line)
                if self._messages < 0 or self._bytes < 0:
                    self.reason = f"The MCP server {self._name} sent too much data and was stopped."
                    return
                try:
                    message = parsed(line) if len(line) < _PARSED_HERE else await asyncio.to_thread(parsed, line)
                except ValueError:
                    continue  # what some programs print between their messages
                await incoming.send(SessionMessage(message))
        except asyncio.LimitOverrunError:
            limit = f"{MESSAGE_LIMIT:,}"
            self.reason = f"The MCP server {self._name} sent a message of more than {limit} bytes, and was ended."
        except (asyncio.IncompleteReadError, OSError):
            pass  # it has ended, as `reason` says already
        except Exception:
            log.exception("Reading from the MCP server %s failed.", self._name)
        finally:
            self.ended.set()
            await incoming.aclose()

    async def _send(self, writer: asyncio.StreamWriter, outgoing: Any) -> None:
        try:
            async for message in outgoing:
                writer.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await writer.drain()
        except OSError:
            self.ended.set()
