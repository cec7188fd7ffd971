"""Bodies of requests that become files."""

from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
from fastapi import Request, Response

from parachute.base.errors import ParachuteError
from parachute.web.http.incoming import Gone, Incoming

_DRAINED = 64 * 1024 * 1024
"""Bytes of a refused body that are still read."""


def announced_size(request: Request) -> int | None:
    """Return the bytes of a body as its headers say."""
    announced = request.headers.get("content-length")
    return int(announced) if announced else None


async def received(request: Request, work: Callable[[AsyncIterator[bytes]], Awaitable[msgspec.Struct]]) -> Response:
    """Have a body read, and return what became of it; of one that is refused the rest is read first, unless it is large.

    Errors: those of `work`.
    """
    incoming = Incoming(request.receive, has_body=True)
    try:
        done = await work(incoming.chunks())
    except Gone:
        return Response(status_code=400)
    except ParachuteError:
        size = announced_size(request)
        if size is None or size <= _DRAINED:
            await incoming.drain()
        raise
    return Response(msgspec.json.encode(done), media_type="application/json")
