"""HTTP connections of peers that nobody has to trust: uvicorn's, held to a budget of connections, bytes and time."""

import asyncio
import ssl
from collections.abc import Callable, Hashable
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from parachute.base import budget
from parachute.base.addresses import parse_address
from parachute.base.budget import Budget, Limits
from parachute.web.http.tls_transport import HANDSHAKE, TlsTransport

_PIECE = 16 * 1024
"""Bytes that the parser gets at a time: so much more than allowed it may keep of a header that has no end."""

_CHECK_SECONDS = 1.0


class _TooMuch(Exception):
    """End of the parsing; the connection knows why."""


class ConnectionLimiter:
    """Limits of the connections of one listening socket, or of several alike, together.

    Where there is no room, the connection that has waited longest for its request makes some; one whose request is being
    answered is left alone.
    """

    def __init__(self, limits: Limits) -> None:
        self.budget = Budget(limits)
        self._header_seconds = limits.header_seconds
        self._heads: dict[HttpConnection, float] = {}
        self._bodies: dict[HttpConnection, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, connection: "HttpConnection") -> bool:
        """Count a connection, if there is room or room can be made."""
        peer, trusted = connection.peer, connection.is_trusted
        if not self.budget.connect(peer, trusted=trusted):
            same = not trusted and self.budget.is_full(peer)
            for other in self._heads:
                if other.peer == peer if same else (trusted or not other.is_trusted):
                    other.end()
                    break
            if not self.budget.connect(peer, trusted=trusted):
                return False
        self.expect_head(connection)
        return True

    def release(self, connection: "HttpConnection") -> None:
        """Forget an admitted connection that has ended."""
        self.budget.disconnect(connection.peer)
        self.expect_nothing(connection)

    def expect_head(self, connection: "HttpConnection") -> None:
        """Start the time that the connection has for a header."""
        self._heads.pop(connection, None)
        self._expect(self._heads, connection, self._header_seconds)

    def expect_body(self, connection: "HttpConnection") -> None:
        """Start the time that the connection has for a body."""
        self._heads.pop(connection, None)
        self._expect(self._bodies, connection, budget.BODY_SECONDS)

    def expect_nothing(self, connection: "HttpConnection") -> None:
        """End the time limits of the connection."""
        self._heads.pop(connection, None)
        self._bodies.pop(connection, None)

    def received(self, connection: "HttpConnection", size: int) -> None:
        """Extend the time for a body by the bytes that have come."""
        if connection in self._bodies:
            later = self._bodies[connection] + size / budget.BODY_RATE
            self._bodies[connection] = min(later, connection.loop.time() + budget.BODY_SECONDS)

    def _expect(self, where: "dict[HttpConnection, float]", connection: "HttpConnection", seconds: float) -> None:
        loop = connection.loop
        where[connection] = loop.time() + seconds
        if self._timer is None:
            self._timer = loop.call_later(_CHECK_SECONDS, self._check, loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection, deadline in list(self._heads.items()):
            if deadline > now:
                break  # they stand in the order in which their time is over
            connection.end(HTTPStatus.REQUEST_TIMEOUT)
        for connection, deadline in list(self._bodies.items()):
            if connection.flow.read_paused:
                self._bodies[connection] = deadline + _CHECK_SECONDS
            elif deadline <= now:
                connection.end(HTTPStatus.REQUEST_TIMEOUT)
        waits = self._heads or self._bodies
        self._timer = loop.call_later(_CHECK_SECONDS, self._check, loop) if waits else None


class HttpConnection(HttpToolsProtocol):
    """One connection; `peer` is who it counts for: on a network the address of the other end.

    Its first byte says whether it speaks TLS, for which `tls` has a context while there is a certificate. The handshake is
    part of the time for a header, and every limit is of what was sealed.
    """

    def __init__(
        self,
        limiter: ConnectionLimiter,
        peer: Hashable = None,
        tls: Callable[[], ssl.SSLContext | None] = lambda: None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.peer = peer
        self._tls_context: Callable[[], ssl.SSLContext | None] | None = tls
        self._tls: TlsTransport | None = None
        self.is_trusted = False
        self._limiter = limiter
        self._admitted = False
        self._over = False
        self._in_body = False
        self._pending = 0
        self._fields = 0
        self._problem = HTTPStatus.BAD_REQUEST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if self.peer is None:
            self.peer, self.is_trusted = _peer_of(transport.get_extra_info("peername"))
        self._admitted = self._limiter.admit(self)
        if not self._admitted:
            self.transport = transport
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._release()
        if self.flow is not None:
            super().connection_lost(exc)

    def end(self, status: HTTPStatus | None = None) -> None:
        """End the connection, with a last word if its request has none."""
        self._release()
        if status is None or not (self._pending or self._in_body):
            self.transport.abort()
        elif not self.transport.is_closing():
            self._answer(status)

    def break_off(self) -> None:
        """End the connection if a request of it is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._tls_context is not None:
            context = self._tls_context() if data[0] == HANDSHAKE else None
            self._tls_context = None
            if context is not None:
                self.transport = self._tls = TlsTransport(self.transport, context)
                self.scheme = "https"
        for start in range(0, len(data), _PIECE):
            if self.transport.is_closing():
                return
            piece = data[start : start + _PIECE]
            if self._tls is None:
                self._parse(piece)
            else:
                self._open(self._tls, piece)

    def _open(self, tls: TlsTransport, piece: bytes) -> None:
        if not tls.is_open:
            self._pending += len(piece)
            if self._pending > budget.HEADER_BYTES:
                tls.abort()
                return
            tls.receive(piece)
            if tls.is_open:
                self._pending = 0
        else:
            tls.receive(piece)
        for opened in tls.opened():
            self._parse(opened)

    def _parse(self, piece: bytes) -> None:
        self._pending += len(piece)
        super().data_received(piece)
        if self._pending > budget.HEADER_BYTES and not self.transport.is_closing():
            self._answer(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def send_400_response(self, msg: str) -> None:
        self._answer(self._problem)

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= budget.PIPELINED:
            self._refuse(HTTPStatus.TOO_MANY_REQUESTS)
        self._in_body = False
        self._fields = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields += 1
        if self._fields > budget.HEADERS:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        # Behind a body it is a trailer: it comes after everything that was decided by headers, and is none.
        if not self._in_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_body = True
        self._pending = 0
        self._limiter.expect_body(self)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._pending = 0
        self._limiter.received(self, len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        self._pending = 0
        self._limiter.expect_nothing(self)
        super().on_message_complete()
        if self.cycle is not None and self.cycle.response_complete:
            self._limiter.expect_head(self)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._in_body and not self.transport.is_closing():
            self._limiter.expect_head(self)

    def _refuse(self, status: HTTPStatus) -> None:
        self._problem = status
        raise _TooMuch

    def _answer(self, status: HTTPStatus) -> None:
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()  # it would be read as part of that answer
            return
        sentence = _SENTENCES.get(status, "Invalid HTTP request received.").encode()
        self.transport.write(
            b"HTTP/1.1 %d %s\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n"
            b"connection: close\r\n\r\n%s" % (status, status.phrase.encode(), len(sentence), sentence)
        )
        self.transport.close()

    def _release(self) -> None:
        if self._admitted and not self._over:
            self._over = True
            self._limiter.release(self)


_SENTENCES = {
    HTTPStatus.REQUEST_TIMEOUT: "The request did not arrive in time.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests were sent before the first was answered.",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "The header of the request is too large.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Too many connections are open. Close some, or try again later.",
}


def _peer_of(peername: Any) -> tuple[Hashable, bool]:
    """Return the peer that the other end of a connection counts as, and whether it is on this machine."""
    address = parse_address(peername[0]) if isinstance(peername, tuple) and peername else None
    if address is None:
        return "unknown", False
    # Whoever has one address of version 6 has all of its network.
    peer = int(address) >> 64 if address.version == 6 else int(address)
    return (address.version, peer), address.is_loopback
