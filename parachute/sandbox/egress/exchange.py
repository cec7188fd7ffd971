"""One plain HTTP request and its answer: both are read and written anew, so that nothing hides behind them."""

import asyncio
import contextlib
from collections.abc import Callable

import h11

from parachute.sandbox.egress.internet import Streams, Unreachable
from parachute.sandbox.egress.models import Refused
from parachute.sandbox.egress.route import Route
from parachute.sandbox.egress.streams import CHUNK

_EARLY = frozenset((100, 102, 103))

Event = h11.Event | type[h11.PAUSED]
_Passed = Callable[[int], None]


async def next_event(http: h11.Connection, reader: asyncio.StreamReader, passed: _Passed | None = None) -> Event:
    """The next event of one side; errors: h11.RemoteProtocolError, OSError."""
    while (event := http.next_event()) is h11.NEED_DATA:
        data = await reader.read(CHUNK)
        if passed is not None:
            passed(len(data))
        http.receive_data(data)
    return event  # type: ignore[return-value]


class Exchange:
    """Carries one request to a server, and its answer back."""

    def __init__(
        self,
        http: h11.Connection,
        client: Streams,
        server: Streams,
        header_bytes: int,
        sent: _Passed,
        received: _Passed,
    ) -> None:
        self._http = http
        self._client_reader, self._client = client
        self._server_reader, self._server = server
        self._upstream = h11.Connection(h11.CLIENT, max_incomplete_event_size=header_bytes)
        self._sent = sent
        self._received = received
        self._answered = False

    async def run(self, route: Route, request: h11.Request, *, early: bool) -> None:
        """Run to the end of the answer; errors: Refused while the client can still get an answer, else OSError.

        `early`: the client understands an answer before the answer.
        """
        body = asyncio.create_task(self._carry_request(request), name="egress request body")
        try:
            # A server may answer before the body is complete, and then does not want the rest.
            await self._carry_answer(route, early)
        except h11.RemoteProtocolError as error:
            if self._answered:
                raise ConnectionAbortedError("the answer broke off") from error
            if body.done() and not body.cancelled() and isinstance(body.exception(), Refused):
                raise body.exception() from error  # type: ignore[misc]
            raise Unreachable(f"{route.target} gave no answer that can be read as HTTP.") from error
        finally:
            body.cancel()
            with contextlib.suppress(asyncio.CancelledError, Refused, OSError, h11.ProtocolError):
                await body

    async def _carry_request(self, request: h11.Request) -> None:
        try:
            await self._send(request)
            while isinstance(event := await next_event(self._http, self._client_reader), h11.Data):
                await self._send(h11.Data(event.data))
            await self._send(h11.EndOfMessage())
        except (h11.RemoteProtocolError, OSError) as error:
            # The server waits for the rest of a body that will not come: end its waiting, and with it the answer's.
            self._server.transport.abort()
            raise Refused("The body of the request broke off, or cannot be read.", status=400) from error

    async def _carry_answer(self, route: Route, early: bool) -> None:
        while True:
            event = await next_event(self._upstream, self._server_reader, self._received)
            if isinstance(event, h11.InformationalResponse):
                if early and event.status_code in _EARLY:
                    await self._answer(event)
            elif isinstance(event, h11.Response):
                answer = route.answer(event)
                self._answered = True
                await self._answer(answer)
            elif isinstance(event, h11.Data):
                await self._answer(h11.Data(event.data))
            elif isinstance(event, h11.EndOfMessage):
                await self._answer(h11.EndOfMessage())
                return
            else:
                raise h11.RemoteProtocolError("the server closed the connection")

    async def _send(self, event: h11.Event) -> None:
        if data := self._upstream.send(event):
            self._server.write(data)
            await self._server.drain()
            self._sent(len(data))

    async def _answer(self, event: h11.Event) -> None:
        if data := self._http.send(event):
            self._client.write(data)
            await self._client.drain()
