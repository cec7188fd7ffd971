"""A limit for request bodies, by what is announced and by what really comes; nothing is kept in memory."""

from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parachute.errors import ParachuteError
from parachute.web.refusals import refuse

DEFAULT_LIMIT = 20 * 1024 * 1024


class BodyTooLarge(ParachuteError):
    """The body of the request is larger than this route takes."""

    status = 413
    key = "body_too_large"


class BodyLimitMiddleware:
    """Answers 413 when a body goes over `limit` bytes, or over that of the longest prefix of the path in `limits`."""

    def __init__(self, app: ASGIApp, limit: int = DEFAULT_LIMIT, limits: Mapping[str, int] | None = None) -> None:
        self.app = app
        self._limit = limit
        self._limits = sorted((limits or {}).items(), key=lambda item: len(item[0]), reverse=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body counted."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._limit_of(scope["path"])
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        # The server has checked that this is a number; without one, what comes is counted.
        if announced.isdigit() and int(announced) > limit:
            await refuse(scope, send, _too_large(limit))
            return
        await _Counted(self.app, limit).run(scope, receive, send)

    def _limit_of(self, path: str) -> int:
        for prefix, limit in self._limits:
            if path == prefix or path.startswith(prefix.rstrip("/") + "/"):
                return limit
        return self._limit


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The body of the request is larger than {limit:,} bytes.", "Send it in smaller parts.")


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
