"""One connection to a server elsewhere, as a client session uses it. Imports the HTTP client: import it in functions."""

import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2

from parachute import __version__
from parachute.base.errors import ParachuteError
from parachute.capabilities.mcp_servers import addresses
from parachute.capabilities.mcp_servers.elicitations import ANSWER_SECONDS
from parachute.capabilities.mcp_servers.models import Server
from parachute.capabilities.mcp_servers.remote.allowance import MESSAGE_LIMIT, Allowance
from parachute.capabilities.mcp_servers.remote.transport import Tokens, Transport
from parachute.sandbox.egress.client import pool
from parachute.sandbox.egress.outlet import Outlet

# It logs what servers answer, and that may be what they were sent.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)

_SHORTEST_SECRET = 6
# A stream may be silent while the owner is asked; a server that is silent otherwise is ended by whoever called it.
_TIMEOUT = httpx2.Timeout(30, read=ANSWER_SECONDS + 30)


class RemoteLink:
    """See `Link` of the client; `headers` hold secrets, which are taken out of everything that the server says."""

    def __init__(
        self, server: Server, headers: Mapping[str, str], tokens: Tokens, outlet: Outlet, certificates: ssl.SSLContext
    ) -> None:
        self._server = server
        self._allowance = Allowance(server.name)
        self._headers = headers
        self._tokens = tokens
        self._outlet = outlet
        self._certificates = certificates
        self.ended = self._allowance.ended
        found = {part for value in headers.values() for part in (value, value.partition(" ")[2])}
        self._secrets = sorted((text for text in found if len(text) >= _SHORTEST_SECRET), key=len, reverse=True)

    def asked(self) -> None:
        """Begin a request: the server may send as much again."""
        self._allowance.renew()

    @property
    def failure(self) -> ParachuteError | None:
        """Return the failure since the last request began."""
        return self._allowance.failure

    def error(self) -> ParachuteError:
        """Return why the connection has ended."""
        return self._allowance.error()

    def cleaned(self, text: str) -> str:
        """Take headers and tokens out of what the server says."""
        tokens = [token for token in self._allowance.tokens if len(token) >= _SHORTEST_SECRET]
        for secret in (*self._secrets, *tokens):
            text = text.replace(secret, "…")
        return text

    @contextlib.asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """Open the streams of a client session."""
        from mcp.client.sse import sse_client
        from mcp.client.streamable_http import streamable_http_client

        def client(headers: Any = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
            transport = Transport(
                self._allowance,
                addresses.parse(self._server.url),
                self._headers,
                self._tokens,
                pool(self._outlet, self._certificates),
                is_stream=self._server.kind == "sse",
            )
            agent = {"user-agent": f"parachute/{__version__}"}
            return httpx2.AsyncClient(transport=transport, headers=agent, timeout=_TIMEOUT, trust_env=False)

        try:
            if self._server.kind == "sse":
                async with sse_client(self._server.url, httpx_client_factory=client) as streams:
                    yield streams
            else:
                async with (
                    client() as http,
                    streamable_http_client(
                        self._server.url, http_client=http, max_sse_event_size=MESSAGE_LIMIT
                    ) as streams,
                ):
                    yield streams
        finally:
            self._outlet.close()
