"""One connection of a client: one request, judged once, and then carried or refused. There is never a second one."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

import h11

from parachute.sandbox.egress import request as requests
from parachute.sandbox.egress.account import Account
from parachute.sandbox.egress.exchange import Exchange, next_event
from parachute.sandbox.egress.internet import Internet, Streams, Unreachable
from parachute.sandbox.egress.models import Limits, Refused
from parachute.sandbox.egress.route import Route, Said, Service, as_text
from parachute.sandbox.egress.streams import Idle, close_gracefully, drain_wholly, pump

log = logging.getLogger(__name__)

_REASONS = {400: b"Bad Request", 403: b"Host Not Allowed", 408: b"Request Timeout", 502: b"Bad Gateway"}
_REASONS |= {431: b"Request Header Fields Too Large", 503: b"Too Many Connections", 504: b"Gateway Timeout"}


class Connection:
    """Serves one client of a listener until its request is done; it owns both sockets and closes them."""

    def __init__(self, account: Account, client: Streams, internet: Internet, limits: Limits) -> None:
        self._account = account
        self._reader, self._writer = client
        self._internet = internet
        self._limits = limits
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.header_bytes)
        self._server: asyncio.StreamWriter | None = None
        self._established = False
        self._said: Callable[[Refused], Said] = as_text
        self._sent = 0
        self._received = 0
        self.route: Route | None = None

    async def serve(self) -> None:
        """Serve to the end; raises nothing but CancelledError."""
        try:
            async with asyncio.timeout(self._limits.total_seconds):
                try:
                    await self._serve()
                except Refused as refused:
                    await self._refuse(refused)
        except* (OSError, h11.ProtocolError):
            pass  # a side has gone, or said nothing for too long: nobody is left to hear of it
        except* Exception:
            log.exception("A connection of %s failed.", self._account.owner)
        finally:
            self.abort()

    def abort(self) -> None:
        """Break it off, and give both sockets back."""
        for writer in (self._writer, self._server):
            if writer is not None:
                writer.transport.abort()

    async def turn_away(self) -> None:
        """Answer that there are too many connections."""
        message = f"{self._account.owner} has too many connections open."
        await self._refuse(Refused(message, "Close some, or wait for them to end.", status=503))

    async def _serve(self) -> None:
        account = self._account
        service: Service = account
        described = "a request that cannot be read"
        try:
            request = await self._read_request()
            asked = requests.read(request)
            service = account.service(asked.target)
            described, self._said = service.describe(asked), partial(service.said, asked)
            self.route = route = await service.route(asked, request, lambda: account.allowed)
            if account.went_out is not None:
                await account.went_out(account.owner)
            server = await self._internet.reach(
                route.target, account.lookups, private=route.private, own=route.own, tls=route.tls
            )
        except Refused as refused:
            account.count(refused=True)
            service.decided(described, refused)
            raise
        self._server = server[1]
        account.count(refused=False)
        service.decided(described, None)
        error: str | None = "It was broken off."
        try:
            await self._carry(route, server, early=request.http_version >= b"1.1")
            error = None
        except Refused as refused:
            error = refused.message
            raise
        finally:
            service.ended(described, self._sent, self._received, error)
        await close_gracefully(self._reader, self._writer)

    async def _carry(self, route: Route, server: Streams, *, early: bool) -> None:
        try:
            async with Idle(self._limits.idle_seconds) as idle:
                if route.request is None:
                    await self._tunnel(server, idle)
                else:
                    await self._exchange(route, route.request, server, idle, early=early)
        except TimeoutError as error:
            raise Unreachable(f"{route.target} was silent for too long.", status=504) from error

    async def _tunnel(self, server: Streams, idle: Idle) -> None:
        early, _ = self._http.trailing_data  # a client may speak before it knows that it may
        self._established = True
        self._writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
        server[1].write(early)
        self._count(idle, sent=len(early))
        async with asyncio.TaskGroup() as both:
            both.create_task(pump(self._reader, server[1], lambda size: self._count(idle, sent=size)))
            both.create_task(pump(server[0], self._writer, lambda size: self._count(idle, received=size)))
        await drain_wholly(server[1])
        await drain_wholly(self._writer)

    async def _exchange(self, route: Route, request: h11.Request, server: Streams, idle: Idle, *, early: bool) -> None:
        exchange = Exchange(
            self._http,
            (self._reader, self._writer),
            server,
            self._limits.header_bytes,
            lambda size: self._count(idle, sent=size),
            lambda size: self._count(idle, received=size),
        )
        await exchange.run(route, request, early=early)
        await drain_wholly(self._writer)

    def _count(self, idle: Idle, sent: int = 0, received: int = 0) -> None:
        idle.touch()
        self._sent += sent
        self._received += received
        self._account.sent += sent
        self._account.received += received

    async def _read_request(self) -> h11.Request:
        try:
            # From the first byte to the last of the header: one that trickles in gets no more time.
            async with asyncio.timeout(self._limits.header_seconds):
                event = await next_event(self._http, self._reader)
        except TimeoutError as error:
            raise Refused("The header of the request did not arrive in time.", status=408) from error
        except h11.RemoteProtocolError as error:
            if error.error_status_hint == 431:
                raise Refused(f"The header is longer than {self._limits.header_bytes:,} bytes.", status=431) from error
            raise Refused(f"The request cannot be read as HTTP: {error}.", status=400) from error
        if not isinstance(event, h11.Request):
            raise ConnectionAbortedError("the client left without a request")
        return event

    async def _refuse(self, refused: Refused) -> None:
        if self._established or self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return  # in the middle of an answer: what ends it is the end of the connection
        said = self._said(refused)
        headers = [("Content-Type", said.kind), ("Content-Length", str(len(said.body)))]
        response = h11.Response(
            status_code=said.status,
            headers=[*headers, ("Connection", "close")],
            reason=refused.reason or _REASONS.get(said.status, b""),
        )
        for event in (response, h11.Data(said.body), h11.EndOfMessage()):
            self._writer.write(self._http.send(event) or b"")
        await close_gracefully(self._reader, self._writer)
