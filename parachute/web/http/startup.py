"""The error of a failed start, and of a vault that is gone, in one sentence."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parachute.base.errors import ParachuteError
from parachute.base.services import ServiceRegistry
from parachute.config.vault.place import VaultMissing
from parachute.config.vault.watch import VaultWatch
from parachute.web.http.refusals import refuse


class StartupMiddleware:
    """Replace the traceback of a failed start with the error that the start has left among the services, and refuse requests without a vault."""

    def __init__(self, app: ASGIApp, services: ServiceRegistry) -> None:
        self.app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on, but for the message that the start has failed, and what would be written where the vault was."""
        if scope["type"] != "lifespan":
            try:
                if (watch := self._services.find(VaultWatch)) is not None:
                    watch.check()
            except VaultMissing as error:
                await refuse(scope, send, error)
            else:
                await self.app(scope, receive, send)
            return

        async def telling(message: Message) -> None:
            failure = self._services.find(ParachuteError)
            if message["type"] == "lifespan.startup.failed" and failure is not None:
                message = {**message, "message": str(failure)}
            await send(message)

        await self.app(scope, receive, telling)
