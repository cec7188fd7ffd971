"""Connections of the HTTP client, each through the egress decision. Imports the client: import it in functions."""

import asyncio
import ssl
from typing import Any

import httpcore2

from parachute.base.errors import Unavailable
from parachute.sandbox.egress.models import Target
from parachute.sandbox.egress.outlet import Outlet

_CONNECTIONS, _KEPT = 12, 4
_KEPT_SECONDS = 60.0


def pool(outlet: Outlet, certificates: ssl.SSLContext) -> httpcore2.AsyncConnectionPool:
    """Make a pool of connections that go where the outlet lets them."""
    return httpcore2.AsyncConnectionPool(
        ssl_context=certificates,
        max_connections=_CONNECTIONS,
        max_keepalive_connections=_KEPT,
        keepalive_expiry=_KEPT_SECONDS,
        network_backend=_Backend(outlet),
    )


class _Backend(httpcore2.AsyncNetworkBackend):
    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet

    async def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore2.AsyncNetworkStream:
        target = Target(host.strip("[]"), port)
        return _Stream(target, *await self._outlet.connect(target))


class _Stream(httpcore2.AsyncNetworkStream):
    def __init__(self, target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._target = target
        self._reader = reader
        self._writer = writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            async with asyncio.timeout(timeout):
                return await self._reader.read(max_bytes)
        except TimeoutError as error:
            raise httpcore2.ReadTimeout from error
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            async with asyncio.timeout(timeout):
                self._writer.write(buffer)
                await self._writer.drain()
        except TimeoutError as error:
            raise httpcore2.WriteTimeout from error
        except OSError as error:
            raise httpcore2.WriteError(str(error)) from error

    async def aclose(self) -> None:
        # At once: a server that does not close its side holds up nobody.
        self._writer.transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except ssl.SSLCertVerificationError as error:
            self._writer.transport.abort()
            raise Unavailable(
                f"The certificate of {self._target} is not trusted: {error.verify_message}.", key="not_trusted"
            ) from error
        except OSError as error:  # those of TLS and TimeoutError are some, too
            self._writer.transport.abort()
            raise Unavailable(
                f"{self._target} does not speak TLS: {error.args[-1] if error.args else ''}.", key="no_tls"
            ) from error
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":  # then the other side has closed it, and it is not used again
            return self._reader.at_eof()
        return self._writer.get_extra_info(info)
