"""A way through the egress proxy to a server without TLS, which a websocket needs: proxies change what they read of plain HTTP."""

import asyncio
import contextlib

import yarl

_HEAD_LIMIT = 16 * 1024
_CHUNK = 64 * 1024


async def open_tunnel(proxy: str, target: yarl.URL) -> asyncio.Server:
    """Listen on the loopback of this process's sandbox, and carry each connection to the target by CONNECT."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            try:
                outer_reader, outer_writer = await _connect(yarl.URL(proxy), target)
            except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                return
            with contextlib.closing(outer_writer):
                await asyncio.gather(_copy(reader, outer_writer), _copy(outer_reader, writer))

    return await asyncio.start_server(carry, "127.0.0.1", 0)


async def _connect(proxy: yarl.URL, target: yarl.URL) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(proxy.host, proxy.port, limit=_HEAD_LIMIT)
    place = f"{target.host_subcomponent}:{target.port}"
    writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if head.split(b" ", 2)[1] != b"200":
        writer.close()
        raise ConnectionError("The egress proxy refuses the server.")
    return reader, writer


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()  # broken off on one side, and so on the other
