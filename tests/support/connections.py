"""Reading what a server answers before it ends a connection, in whichever way it does."""

import asyncio
import contextlib

SECONDS = 60.0


async def read_to_end(reader: asyncio.StreamReader) -> bytes:
    """Everything that came before the end of the connection.

    A server that closes while something lies unread in its socket ends the connection with a reset: both are an end.
    """
    found = b""
    async with asyncio.timeout(SECONDS):
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                found += data
    return found
