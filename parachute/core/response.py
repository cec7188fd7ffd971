"""Answers of routes, and how other values become one."""

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.core.errors import ModuleError, error_document
from parachute.core.values import encode

log = logging.getLogger("parachute.module")

JSON = "application/json"
_EVENTS = "text/event-stream; charset=utf-8"


@dataclass(slots=True)
class Response:
    """An answer with its status and headers; `content` is text, bytes, anything JSON can say, or an iterator of bytes."""

    content: Any = None
    status: int = 200
    media_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Rendered:
    """An answer ready to be sent: `chunks` follow `body`; `close` ends what makes them."""

    status: int
    headers: dict[str, str]
    body: bytes = b""
    chunks: AsyncIterator[bytes] | None = None
    close: Callable[[], Any] | None = None


async def render(value: Any, log_name: str) -> Rendered:
    """The value that a route returned, as an answer; error: ModuleError for what cannot be one."""
    if inspect.isasyncgen(value):
        return await _events(value, log_name)
    if value is None:
        return Rendered(204, {})
    response = value if isinstance(value, Response) else _adopted(value)
    body, media_type, chunks = _content(response.content)
    headers = {str(name).lower(): str(text) for name, text in dict(response.headers).items()}
    for name, text in headers.items():
        if any(sign in name + text for sign in "\r\n\0") or not (name + text).isascii():
            raise ModuleError(
                f"The header {name[:40]!r} has characters that a header cannot have.", key="header_invalid"
            )
    for name in ("connection", "content-length", "transfer-encoding"):
        headers.pop(name, None)
    if not isinstance(response.status, int) or not 200 <= response.status <= 599:
        raise ModuleError(f"{response.status!r} is not the status of an answer; 200 to 599 are.", key="status_invalid")
    if body or chunks:
        headers.setdefault("content-type", response.media_type or media_type)
    close = getattr(response.content, "aclose", None) if chunks is not None else None
    return Rendered(response.status, headers, body, chunks, close)


def refusal(error: ParachuteError) -> Rendered:
    """An error as an answer; `detail` is always a sentence."""
    document = {"detail": error.message, "key": error.key, "hint": error.hint}
    return Rendered(error.status, {"content-type": JSON}, encode(document))


def _adopted(value: Any) -> Response:
    """Answers of other libraries have a status, headers and a body under one of two names each."""
    status = getattr(value, "status_code", getattr(value, "status", None))
    if isinstance(status, int) and hasattr(value, "headers"):
        content = getattr(value, "body", None)
        if content is None:
            content = getattr(value, "content", None)
        if isinstance(content, bytes | str | None):
            return Response(content, status, None, dict(value.headers))
    return Response(value)


def _content(content: Any) -> tuple[bytes, str, AsyncIterator[bytes] | None]:
    if content is None:
        return b"", JSON, None
    if isinstance(content, str):
        return content.encode(errors="replace"), "text/plain; charset=utf-8", None
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content), "application/octet-stream", None
    if hasattr(content, "__aiter__"):
        return b"", "application/octet-stream", _checked(content)
    return encode(content), JSON, None


async def _checked(chunks: Any) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        if not isinstance(chunk, bytes):
            raise ModuleError(f"A stream of bytes gave {type(chunk).__name__}.", key="stream_not_bytes")
        yield chunk


async def _events(values: Any, log_name: str) -> Rendered:
    """Server-sent events; what goes wrong before the first one is an ordinary error."""
    try:
        first = _event(await anext(values))
    except StopAsyncIteration:
        first = b""

    async def rest() -> AsyncIterator[bytes]:
        try:
            async for value in values:
                yield _event(value)
        except Exception as error:
            if not isinstance(error, ParachuteError):
                log.exception("%s failed while it was streaming", log_name)
            yield _event({"type": "error", **error_document(error)})

    return Rendered(200, {"content-type": _EVENTS, "cache-control": "no-cache"}, first, rest(), values.aclose)


def _event(value: Any) -> bytes:
    # One line: JSON has no line ends of its own.
    return b"data: " + encode(value) + b"\n\n"
