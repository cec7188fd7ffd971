"""Requests to a server elsewhere and their answers: what is sent, and what of an answer is read.

Imports the HTTP client: import it in functions.
"""

import asyncio
import codecs
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

import httpcore2
import httpx2

from parachute.base.errors import ParachuteError, Unavailable
from parachute.capabilities.mcp_servers.addresses import Address
from parachute.capabilities.mcp_servers.models import NeedsLogin, SessionLost
from parachute.capabilities.mcp_servers.remote.allowance import Allowance, Deadline
from parachute.capabilities.mcp_servers.session import QUIETLY
from parachute.sandbox.egress.models import Refused

log = logging.getLogger(__name__)

_GOODBYE_SECONDS = 2.0
_CHALLENGE_LIMIT = 4 * 1024


class Tokens(Protocol):
    """The login at one server."""

    async def current(self) -> str | None:
        """Return the token to send, refreshed if it ends soon; errors: NeedsLogin, Unavailable."""

    async def renewed(self, refused: str | None) -> str | None:
        """Return another token than the one that was refused, None if there is none; errors: NeedsLogin, Unavailable."""

    async def wanted(self, refused: str | None, scope: str | None, *, also: bool) -> NeedsLogin:
        """Note that the owner has to sign in, and return the error that says so; `also`: what there is goes on."""


class Transport(httpx2.AsyncBaseTransport):
    """Sends requests to one address; what goes wrong is an answer with a sentence, since the library of MCP reads those."""

    def __init__(
        self,
        allowance: Allowance,
        address: Address,
        headers: Mapping[str, str],
        tokens: Tokens,
        connections: httpcore2.AsyncConnectionPool,
        *,
        is_stream: bool,
    ) -> None:
        self._allowance = allowance
        self._address = address
        self._headers = headers
        self._has_own_token = any(name.lower() == "authorization" for name in headers)
        self._tokens = tokens
        self._connections = connections
        self._is_stream = is_stream

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request of the library."""
        name = self._allowance.name
        try:
            # A last word is not waited for: whoever stops everything waits for us.
            async with asyncio.timeout(_GOODBYE_SECONDS if request.method == "DELETE" else None):
                return await self._answer(request)
        except Refused as error:
            return self._failed(
                Unavailable(f"The MCP server {name} cannot be reached. {error.message}", error.hint, key="unreachable")
            )
        except ParachuteError as error:
            return self._failed(error)
        except httpcore2.TimeoutException:
            return self._failed(Unavailable(f"The MCP server {name} does not answer.", key="server_silent"))
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, OSError) as error:
            log.info("The MCP server %s could not be asked: %r", name, error)
            return self._failed(
                Unavailable(
                    f"The MCP server {name} does not answer as one: {_words(error)}.",
                    key="server_speaks_other_protocol",
                )
            )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._connections.aclose()

    def _failed(self, error: ParachuteError) -> httpx2.Response:
        self._allowance.fail(error)
        if self._is_stream:  # there the library waits for an answer that nothing brings any more
            self._allowance.end(error)
        document = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": error.message}}
        return httpx2.Response(502, json=document)

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self._check(request)
        if request.method == "GET" and not self._is_stream and "last-event-id" not in request.headers:
            return httpx2.Response(405)  # for what a server says unasked nobody listens here
        self._allowance.call()
        token = None if self._has_own_token else await self._tokens.current()
        response = await self._send(request, token)
        if QUIETLY in request.headers:
            return response
        if response.status_code == 401 and not self._has_own_token:
            await response.aclose()
            # Without a token, too: the owner may have signed in since.
            if (renewed := await self._tokens.renewed(token)) is not None:
                token = renewed
                response = await self._send(request, token)
        if response.status_code in (401, 403) and (refusal := await self._refusal(response, token)) is not None:
            await response.aclose()
            raise refusal
        if response.status_code == 404 and "mcp-session-id" in request.headers:
            await response.aclose()
            raise self._allowance.end(SessionLost(f"The MCP server {self._allowance.name} has restarted."))
        return response

    def _check(self, request: httpx2.Request) -> None:
        asked, own = request.url, httpx2.URL(self._address.origin)
        if (asked.scheme, asked.host, asked.port) != (own.scheme, own.host, own.port) or asked.userinfo:
            raise Unavailable(
                f"The MCP server {self._allowance.name} leads to {asked.scheme}://{asked.host}, which you have not approved.",
                key="other_host",
            )

    async def _refusal(self, response: httpx2.Response, token: str | None) -> ParachuteError | None:
        from mcp.client.auth.utils import extract_field_from_www_auth

        name = self._allowance.name
        challenge = response.headers.get("www-authenticate", "")[:_CHALLENGE_LIMIT]
        if response.status_code == 403 and "insufficient_scope" not in challenge:
            return None
        if self._has_own_token or (self._headers and "resource_metadata" not in challenge):
            return Unavailable(
                f"The MCP server {name} refuses the headers that it is sent.",
                "Set the secret again with `parachute mcp secret set`, or change the server's headers.",
                key="headers_refused",
            )
        response.headers["www-authenticate"] = challenge
        scope = extract_field_from_www_auth(response, "scope")
        return await self._tokens.wanted(token, scope, also=response.status_code == 403)

    async def _send(self, request: httpx2.Request, token: str | None) -> httpx2.Response:
        headers = httpx2.Headers(request.headers)
        headers.update(self._headers)
        headers.pop(QUIETLY, None)
        headers["accept-encoding"] = "identity"  # what is small on the way could be large here
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
            if token not in self._allowance.tokens:
                self._allowance.tokens.append(token)
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        url = request.url
        response = await self._connections.handle_async_request(
            httpcore2.Request(
                request.method,
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        body = _Body(self._allowance, response, is_endless=self._is_stream and request.method == "GET")
        try:
            self._allowance.message(body.length)
            if body.encoding not in ("", "identity"):
                raise self._allowance.fail(
                    Unavailable(
                        f"The MCP server {self._allowance.name} answers compressed, which it was not asked for.",
                        key="answer_compressed",
                    )
                )
        except BaseException:
            await body.aclose()
            raise
        return httpx2.Response(response.status, headers=response.headers, stream=body, request=request)


class _Body(httpx2.AsyncByteStream):
    """The body of an answer, as far as it may be read."""

    def __init__(self, allowance: Allowance, response: httpcore2.Response, *, is_endless: bool) -> None:
        self._allowance = allowance
        self._stream: Any = response.stream
        found = httpx2.Headers(response.headers)
        self.encoding = found.get("content-encoding", "").strip().lower()
        length = found.get("content-length", "0")
        self.length = int(length) if length.isdecimal() and len(length) < 20 else 0
        self._is_stream = found.get("content-type", "").lower().startswith("text/event-stream")
        self._is_endless = is_endless

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, deadline = 0, Deadline(self._allowance)
        try:
            async for chunk in self._stream:
                self._allowance.take(chunk, is_stream=self._is_stream)
                chunk = chunk if size else chunk.removeprefix(codecs.BOM_UTF8)
                size += len(chunk)
                if not self._is_stream:
                    self._allowance.message(size)
                if deadline.is_over and not self._is_endless:
                    raise Unavailable(
                        f"The MCP server {self._allowance.name} does not come to an end.", key="answer_without_end"
                    )
                yield chunk
        except ParachuteError as error:
            self._allowance.fail(error)
            raise httpx2.StreamError(error.message) from error
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            failure = Unavailable(
                f"The MCP server {self._allowance.name} has broken its answer off.", key="answer_broke_off"
            )
            self._allowance.fail(failure)
            raise httpx2.StreamError(failure.message) from error

    async def aclose(self) -> None:
        with contextlib.suppress(httpcore2.NetworkError, httpcore2.ProtocolError, OSError):
            await self._stream.aclose()


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
