"""HTTP to the server over a Unix socket, which identifies the module, so there is no token."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from parachute.base import local_http
from parachute.base.errors import ParachuteError, Unavailable
from parachute.core.errors import ModuleError, error_from_document
from parachute.core.values import encode

LARGEST_ANSWER = 32 * 1024 * 1024
_CONNECT_SECONDS = 5.0


class CoreGone(Unavailable):
    """Core does not answer on its socket, or broke off."""

    key = "core_gone"


class CoreClient:
    """Sends requests to the server, and receives its streams."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def request(self, method: str, path: str, document: object = None, *, seconds: float = 30.0) -> Any:
        """Ask and return the answer's JSON; errors: Unavailable, and whatever core answers."""
        try:
            answer = await local_http.ask(self._answer(method, path, document), seconds, LARGEST_ANSWER)
        except TimeoutError as error:
            raise Unavailable(
                f"Core did not answer {method} {path} within {seconds:g} seconds.", key="core_silent"
            ) from error
        return _checked(*answer)

    async def upload(self, path: str, chunks: AsyncIterator[bytes], *, seconds: float) -> Any:
        """Send bytes piece by piece and return the answer's JSON; errors: those of `chunks`, and as `request`.

        `seconds` bounds the wait for each piece, and for the answer.
        """
        asking = self._answer("PUT", path, chunks, seconds=seconds)
        try:
            async with asking as response:
                return _checked(response.status, local_http.json_of(await response.read(LARGEST_ANSWER)))
        except TimeoutError as error:
            raise Unavailable(
                f"Core did not answer PUT {path} within {seconds:g} seconds.", key="core_silent"
            ) from error

    async def stream(self, path: str, document: object) -> AsyncIterator[Any]:
        """Ask and yield the values of the stream of events; leaving the loop early ends the work at core."""
        async with self._answer("POST", path, document) as response:
            rest = b""
            async for chunk in response.body:
                rest += chunk
                if response.status == 200:
                    *lines, rest = rest.split(b"\n")
                    for line in lines:
                        if line.startswith(b"data: "):
                            yield local_http.json_of(line.removeprefix(b"data: "))
                if len(rest) > LARGEST_ANSWER:
                    raise ModuleError(
                        f"An event of core is larger than {LARGEST_ANSWER:,} bytes.", key="event_too_large"
                    )
            if response.status != 200:
                _checked(response.status, local_http.json_of(rest))

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, document: object, *, seconds: float | None = None
    ) -> AsyncIterator[local_http.Response]:
        body: bytes | AsyncIterator[bytes] = b""
        headers = [(b"host", b"core")]
        if isinstance(document, AsyncIterator):
            body = document
        elif document is not None:
            body = encode(document)
            headers.append((b"content-type", b"application/json"))
        try:
            async with local_http.request(
                self._socket, method, path, headers, body, connect_seconds=_CONNECT_SECONDS, seconds=seconds
            ) as response:
                yield response
        except local_http.Unreachable as error:
            raise CoreGone(
                "Core does not answer; it may be restarting.", "Try again in a moment.", key="core_gone"
            ) from error
        except (OSError, local_http.CannotBeSent) as error:
            raise CoreGone(
                f"The connection to core broke: {error}.", "Try again in a moment.", key="core_gone"
            ) from error
        except local_http.TooLong as error:
            raise ModuleError(
                f"The answer of core is larger than {LARGEST_ANSWER:,} bytes.", key="answer_too_large"
            ) from error
        except local_http.NotJson as error:
            raise ModuleError("Core sent what is not JSON.", key="answer_not_json") from error


def _checked(status: int, document: Any) -> Any:
    if status >= 300 or (isinstance(document, dict) and "error" in document):
        error: ParachuteError = error_from_document(document)
        raise error
    return document
