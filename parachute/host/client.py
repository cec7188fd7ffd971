"""HTTP to core over its Unix socket; which socket it is says who asks, so there is no token."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import h11

from parachute.core.errors import ModuleError, error_from_document
from parachute.core.values import encode
from parachute.errors import ParachuteError, Unavailable

LARGEST_ANSWER = 32 * 1024 * 1024
_CONNECT_SECONDS = 5.0
_CHUNK = 64 * 1024


class CoreGone(Unavailable):
    """Nobody answers on core's socket, or no longer."""


class CoreClient:
    """A new connection for each request: a kept one could end just as the other side restarts."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def request(self, method: str, path: str, document: object = None, *, seconds: float = 30.0) -> Any:
        """Ask and return the answer's JSON; errors: Unavailable, and whatever core answers."""
        try:
            async with asyncio.timeout(seconds), self._answer(method, path, document) as (status, chunks):
                data = b""
                async for chunk in chunks:
                    data += chunk
                    if len(data) > LARGEST_ANSWER:
                        raise ModuleError(f"The answer of core is larger than {LARGEST_ANSWER:,} bytes.")
        except TimeoutError as error:
            raise Unavailable(f"Core did not answer {method} {path} within {seconds:g} seconds.") from error
        return _parsed(status, data)

    async def stream(self, path: str, document: object) -> AsyncIterator[Any]:
        """Ask and yield the values of the stream of events; leaving the loop early ends the work at core."""
        async with self._answer("POST", path, document) as (status, chunks):
            rest = b""
            async for chunk in chunks:
                rest += chunk
                if status == 200:
                    *lines, rest = rest.split(b"\n")
                    for line in lines:
                        if line.startswith(b"data: "):
                            yield _json(line.removeprefix(b"data: "))
                if len(rest) > LARGEST_ANSWER:
                    raise ModuleError(f"An event of core is larger than {LARGEST_ANSWER:,} bytes.")
            if status != 200:
                _parsed(status, rest)

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, document: object
    ) -> AsyncIterator[tuple[int, AsyncIterator[bytes]]]:
        body = b"" if document is None else encode(document)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                reader, writer = await asyncio.open_unix_connection(str(self._socket))
        except (OSError, TimeoutError) as error:
            raise CoreGone("Core does not answer; it may be restarting.", "Try again in a moment.") from error
        try:
            connection = h11.Connection(h11.CLIENT)
            headers = [("host", "core"), ("connection", "close"), ("content-length", str(len(body)))]
            if body:
                headers.append(("content-type", "application/json"))
            for event in (h11.Request(method=method, target=path, headers=headers), h11.Data(body), h11.EndOfMessage()):
                writer.write(connection.send(event) or b"")
            await writer.drain()
            status = await _status(connection, reader)
            yield status, _chunks(connection, reader)
        except (OSError, h11.ProtocolError) as error:
            raise CoreGone(f"The connection to core broke: {error}.", "Try again in a moment.") from error
        finally:
            writer.close()


async def _next(connection: h11.Connection, reader: asyncio.StreamReader) -> Any:
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await reader.read(_CHUNK))
    return event


async def _status(connection: h11.Connection, reader: asyncio.StreamReader) -> int:
    while not isinstance(event := await _next(connection, reader), h11.Response):
        if not isinstance(event, h11.InformationalResponse):
            raise h11.RemoteProtocolError("it was closed before the answer")
    return int(event.status_code)


async def _chunks(connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while isinstance(event := await _next(connection, reader), h11.Data):
        yield bytes(event.data)
    if not isinstance(event, h11.EndOfMessage):
        raise h11.RemoteProtocolError("it was closed within the answer")


def _parsed(status: int, data: bytes) -> Any:
    document = _json(data) if data.strip() else None
    if status >= 300 or (isinstance(document, dict) and "error" in document):
        error: ParachuteError = error_from_document(document)
        raise error
    return document


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ModuleError("Core sent what is not JSON.") from error
