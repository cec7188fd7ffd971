"""Saying in one sentence why the application cannot start."""

from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class StartupMiddleware:
    """Puts the sentence in `state.failure` in the place of the traceback that the server would log."""

    def __init__(self, app: ASGIApp, state: Any) -> None:
        self.app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, but for the message that the start has failed."""
        if scope["type"] != "lifespan":
            await self.app(scope, receive, send)
            return

        async def telling(message: Message) -> None:
            failure = getattr(self._state, "failure", None)
            if message["type"] == "lifespan.startup.failed" and failure is not None:
                message = {**message, "message": str(failure)}
            await send(message)

        await self.app(scope, receive, telling)
