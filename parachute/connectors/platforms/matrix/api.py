"""The Client-Server API: calls with the bot's token, bounded answers, and its errors in the words of platforms."""

import asyncio
import json
import logging
import os
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, BinaryIO
from urllib.parse import quote

import certifi
import httpx2

from parachute.base.clock import SYSTEM, Clock
from parachute.connectors.platforms.matrix.problems import (
    NO_SERVER,
    TOKEN_REFUSED,
    Problem,
    RateLimited,
    TooLarge,
    error_of,
)
from parachute.connectors.platforms.models import Start
from parachute.connectors.platforms.platform import Refused

log = logging.getLogger("parachute.connector")

CLIENT = "/_matrix/client/v3"
_TOKEN = re.compile(r"[!-~]{1,4096}")
_ANSWER_BYTES = 16 * 1024 * 1024
_LONGEST_WAIT = 90.0
_CONNECT_SECONDS, _READ_SECONDS, _UPLOAD_SECONDS = 15.0, 30.0, 120.0
_CONNECTIONS = 8
_CHUNK = 64 * 1024


class Api:
    """One account; error of its making: Refused for what cannot be a token, or without an address."""

    def __init__(self, start: Start, clock: Clock = SYSTEM) -> None:
        if not start.server:
            raise Refused(NO_SERVER)
        if not _TOKEN.fullmatch(start.token):
            raise Refused(TOKEN_REFUSED)
        self.server = start.server.rstrip("/")
        self._throttled_until: dict[str, float] = {}
        self.clock = clock
        self._client = httpx2.AsyncClient(
            base_url=self.server,
            headers={"Authorization": f"Bearer {start.token}", "User-Agent": "parachute"},
            # The only way out of the sandbox, and it leads to this server alone.
            proxy=os.environ.get("HTTPS_PROXY"),
            trust_env=False,
            verify=ssl.create_default_context(cafile=certifi.where()),
            timeout=httpx2.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=2),
        )

    async def close(self) -> None:
        """End all connections."""
        await self._client.aclose()

    def is_throttled(self, chat: str) -> bool:
        """True while the home server wants no more of a chat: what need not be shown is not shown then."""
        return self.clock.elapsed() < self._throttled_until.get(chat, 0.0)

    async def ask(
        self,
        method: str,
        *path: str,
        body: Any = None,
        query: dict[str, str] | None = None,
        seconds: float = _READ_SECONDS,
        chat: str = "",
        waits: bool = True,
    ) -> dict[str, Any]:
        """Call what is at a path, whose parts after the first are quoted. Errors: ConnectionError, Problem, Refused.

        `chat`: about which it is. `waits`: what the home server wants to have later is asked again then.
        """
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"} if content is not None else {}
        while True:
            try:
                request = self._client.build_request(
                    method, address(*path), params=query, content=content, headers=headers, timeout=_timeout(seconds)
                )
                return await self._answer(request)
            except RateLimited as limited:
                self._throttle(chat, limited.seconds)
                log.info("The home server wants to be left alone for %.1f seconds", limited.seconds)
                if not waits or limited.seconds > _LONGEST_WAIT:
                    raise
                await self.clock.sleep(limited.seconds)

    async def upload(self, file: BinaryIO, size: int, name: str, media_type: str) -> str:
        """Hand a file over to the home server; its address there (mxc://). Errors: ConnectionError, Problem, Refused."""

        async def chunks() -> AsyncIterator[bytes]:
            file.seek(0)
            while data := await asyncio.to_thread(file.read, _CHUNK):
                yield data

        request = self._client.build_request(
            "POST",
            "/_matrix/media/v3/upload",
            params={"filename": name},
            content=chunks(),
            headers={"Content-Type": media_type, "Content-Length": str(size)},
            timeout=_timeout(_UPLOAD_SECONDS),
        )
        found = await self._answer(request)
        if not isinstance(uri := found.get("content_uri"), str) or not uri.startswith("mxc://"):
            raise ConnectionError("The home server accepted a file but returned no address for it.")
        return uri

    @asynccontextmanager
    async def download(self, *path: str) -> AsyncIterator[httpx2.Response]:
        """Begin to read a file. Errors: ConnectionError, Problem, Refused."""
        request = self._client.build_request("GET", address(*path), timeout=_timeout(_READ_SECONDS))
        try:
            response = await self._client.send(request, stream=True)
            try:
                if response.status_code != httpx2.codes.OK:
                    raise await _error(response)
                yield response
            finally:
                await response.aclose()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ConnectionError(f"The home server does not answer ({type(error).__name__}).") from None

    async def _answer(self, request: httpx2.Request) -> dict[str, Any]:
        try:
            response = await self._client.send(request, stream=True)
            try:
                if response.status_code != httpx2.codes.OK:
                    raise await _error(response)
                found = json.loads(await _read(response))
            finally:
                await response.aclose()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ConnectionError(f"The home server does not answer ({type(error).__name__}).") from None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ConnectionError("The home server answers with what is no answer of Matrix.")
        return found

    def _throttle(self, chat: str, seconds: float) -> None:
        now = self.clock.elapsed()
        self._throttled_until = {each: until for each, until in self._throttled_until.items() if until > now}
        self._throttled_until[chat] = now + seconds


def address(*path: str) -> str:
    """The path of a call: what others named is quoted."""
    first, *others = path
    return "/".join((first, *(quote(part, safe="") for part in others)))


def is_missing(problem: Problem) -> bool:
    """True if the home server does not have what was asked for."""
    return problem.code in ("M_NOT_FOUND", "M_UNRECOGNIZED") or problem.status == httpx2.codes.NOT_FOUND


async def _error(response: httpx2.Response) -> Exception:
    try:
        document = json.loads(await _read(response))
    except (ValueError, RecursionError, TooLarge):
        document = None
    return error_of(response.status_code, document, response.headers.get("retry-after", ""))


async def _read(response: httpx2.Response) -> bytes:
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > _ANSWER_BYTES:
            raise TooLarge("The home server answers with more than is read at once.")
    return bytes(data)


def _timeout(seconds: float) -> httpx2.Timeout:
    return httpx2.Timeout(seconds, connect=_CONNECT_SECONDS)
