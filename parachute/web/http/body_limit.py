"""Limits for request bodies: how long one may be, and for those that are kept to be parsed, how much is kept and parsed."""

from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parachute.base.budget import PUBLIC, VALUES, Budget, has_few_values
from parachute.base.errors import ParachuteError
from parachute.web.http.refusals import refuse

DEFAULT_LIMIT = 20 * 1024 * 1024


LARGEST_KEPT = 40 * 1024 * 1024
"""Bytes of a body that is parsed as a whole; where more is allowed, it is passed on as it comes."""


class _TooMuch(ParachuteError):
    """A body that no application sees."""

    status = 413


class BodyLimitMiddleware:
    """Answer 413 when a body goes over `limit` bytes, or over that of the longest prefix of the path in `limits`.

    A body that may have LARGEST_KEPT at the most is received as a whole first: no application sees one that is too much.
    """

    def __init__(self, app: ASGIApp, limit: int = DEFAULT_LIMIT, limits: Mapping[str, int] | None = None) -> None:
        self.app = app
        self._limit = limit
        self._budget = Budget(PUBLIC)
        self._limits = sorted((limits or {}).items(), key=lambda item: len(item[0]), reverse=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body counted."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._limit_of(scope["path"])
        announced, is_chunked = b"0", False
        for name, value in scope["headers"]:
            if name == b"content-length":
                announced = value
            elif name == b"transfer-encoding":
                is_chunked = True
        # The server has checked that this is a number; without one, what comes is counted.
        if announced.isdigit() and int(announced) > limit:
            await refuse(scope, send, _too_large(limit))
            return
        if not is_chunked and announced == b"0":
            await self.app(scope, receive, send)
        elif limit > LARGEST_KEPT:
            await _Counted(self.app, limit).run(scope, receive, send)
        else:
            await self._receive_whole(limit, scope, receive, send)

    async def _receive_whole(self, limit: int, scope: Scope, receive: Receive, send: Send) -> None:
        peer = scope.get("state", {}).get("client_address")
        body, held, is_complete = bytearray(), 0, False
        try:
            while not is_complete:
                message = await receive()
                if message["type"] != "http.request":
                    return
                part = message.get("body", b"")
                if len(body) + len(part) > limit:
                    raise _too_large(limit)
                if not self._budget.hold(peer, len(part)):
                    raise _TooMuch(
                        "Too many large requests arrive at once.",
                        "Send it again in a moment.",
                        key="too_much_at_once",
                        status=503,
                    )
                held += len(part)
                body += part
                is_complete = not message.get("more_body")
            if not has_few_values(body, VALUES):
                raise _TooMuch(
                    f"The body has more than {VALUES:,} values.", "Send it in smaller parts.", key="too_many_values"
                )
            received: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]
            body.clear()

            async def replay() -> Message:
                return received.pop() if received else await receive()

            await self.app(scope, replay, send)
        except _TooMuch as error:
            await refuse(scope, send, error)
        finally:
            self._budget.release(peer, held)

    def _limit_of(self, path: str) -> int:
        for prefix, limit in self._limits:
            if path == prefix or path.startswith(prefix.rstrip("/") + "/"):
                return limit
        return self._limit


def _too_large(limit: int) -> _TooMuch:
    sentence = f"The body of the request is larger than {limit:,} bytes."
    return _TooMuch(sentence, "Send it in smaller parts.", key="body_too_large")


class _Counted:
    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit
        self.received = 0
        self.is_started = False

    @property
    def is_over(self) -> bool:
        return self.received > self.limit

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted_receive() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                self.received += len(message.get("body", b""))
                if self.is_over:
                    raise _too_large(self.limit)
            return message

        async def guarded_send(message: Message) -> None:
            # Frameworks turn the error into one of their own; the client is to see ours.
            if self.is_over and not self.is_started:
                return
            self.is_started = True
            await send(message)

        try:
            await self.app(scope, counted_receive, guarded_send)
        except Exception:
            if not self.is_over or self.is_started:
                raise
        if self.is_over and not self.is_started:
            await refuse(scope, send, _too_large(self.limit))
