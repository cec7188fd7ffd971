"""Egress from a module's sandbox: a TCP listener for libraries in front of the egress proxy's Unix socket."""

import asyncio
import os
from pathlib import Path

EGRESS = "egress.sock"

_CHUNK = 64 * 1024


async def open_proxy(core_socket: Path) -> asyncio.Server | None:
    """Listen on the sandbox's own loopback for the module's libraries, and set the usual proxy variables.

    None where core has put no socket of the egress proxy next to its own: then there is no egress. The loopback of a sandbox
    belongs to that sandbox alone; do not call this outside of one.
    """
    egress = core_socket.with_name(EGRESS)
    if not egress.is_socket():
        return None

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            outer_reader, outer_writer = await asyncio.open_unix_connection(str(egress))
        except OSError:
            writer.close()  # the proxy is restarting; the library sees a refused request
            return
        await asyncio.gather(_copy(reader, outer_writer), _copy(outer_reader, writer))
        writer.close()
        outer_writer.close()

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        os.environ[name] = address
    return server


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.close()
