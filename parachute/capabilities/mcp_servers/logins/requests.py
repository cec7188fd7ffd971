"""Single requests to those who give logins: small answers, no redirect, and only hosts that the owner approved.

Imports the HTTP client: import it in functions.
"""

import httpcore2
import httpx2

from parachute import __version__
from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.capabilities.mcp_servers import addresses
from parachute.capabilities.mcp_servers.logins.errors import LoginFailed
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.client import pool
from parachute.sandbox.egress.hosts import Pattern
from parachute.sandbox.egress.outlet import Outlet

_LIMIT = 256 * 1024
_TIMEOUT = {"connect": 10.0, "read": 10.0, "write": 10.0, "pool": 10.0}


class Requests:
    """Asks on behalf of one server."""

    def __init__(self, name: str, outlet: Outlet, certificates: Certificates) -> None:
        self._name = name
        self._outlet = outlet
        self._certificates = certificates

    def address(self, url: str, what: str) -> addresses.Address:
        """Read an address that the server names, to which we may connect; errors: LoginFailed."""
        address = self.shown(url, what)
        if not self._outlet.allows(address.target):
            host = str(address.target).removesuffix(":443")
            raise LoginFailed(
                f"One signs in to the MCP server {self._name} at {host}, which you have not allowed.",
                _hint(self._name, host),
                key="host_not_allowed",
                status=403,
                hosts=[host],
            )
        return address

    def shown(self, url: str, what: str) -> addresses.Address:
        """Read an address that only the owner's browser opens; error: LoginFailed."""
        try:
            return addresses.parse(url)
        except (ValueError, InvalidInput) as error:
            raise LoginFailed(
                f"The MCP server {self._name} names no usable address of {what}: {error}.", key="address_unusable"
            ) from error

    async def ask(self, request: httpx2.Request, what: str) -> httpx2.Response:
        """Return the whole answer to a request; errors: LoginFailed, Unavailable."""
        address = self.address(str(request.url), what)
        headers = httpx2.Headers(request.headers)
        headers |= {
            "accept": "application/json",
            "accept-encoding": "identity",
            "user-agent": f"parachute/{__version__}",
        }
        url = httpcore2.URL(
            scheme=address.scheme.encode(),
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        certificates = await self._certificates.context()
        try:
            async with (
                pool(self._outlet, certificates) as connections,
                connections.stream(
                    request.method, url, headers=headers.raw, content=request.read(), extensions={"timeout": _TIMEOUT}
                ) as response,
            ):
                return await self._read(request, response, address)
        except ParachuteError:
            raise
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise Unavailable(
                f"{address.origin}, at which one signs in, does not answer.", key="issuer_silent"
            ) from error

    async def _read(
        self, request: httpx2.Request, response: httpcore2.Response, address: addresses.Address
    ) -> httpx2.Response:
        headers = httpx2.Headers(response.headers)
        if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise LoginFailed(
                f"{address.origin} answers compressed, which it was not asked for.", key="answer_compressed"
            )
        data = bytearray()
        if headers.get("content-type", "").lower().startswith("text/event-stream"):
            return httpx2.Response(response.status, request=request)  # it begins to serve, and may never end
        async for chunk in response.aiter_stream():
            data += chunk
            if len(data) > _LIMIT:
                raise LoginFailed(f"{address.origin} answers with more than {_LIMIT:,} bytes.", key="answer_too_large")
        kept = {
            name: headers[name][:4096] for name in ("content-type", "www-authenticate", "location") if name in headers
        }
        return httpx2.Response(response.status, headers=kept, content=bytes(data), request=request)


def _hint(name: str, host: str) -> str:
    """The command that allows a host, or the reason why none does."""
    try:
        Pattern.parse(host, private=True)
    except ValueError as error:
        return f"This host cannot be allowed: {error}. The server must name another host."
    return f"`parachute mcp login {name} --host {host}` allows it."
