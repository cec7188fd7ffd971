"""Audit of every request that changes something."""

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parachute.base.services import ServiceRegistry
from parachute.security.audit.service import Audit

_READING = frozenset({"GET", "HEAD", "OPTIONS"})


class AuditMiddleware:
    """Append one event for each writing request, with its caller and how it ended."""

    def __init__(self, app: ASGIApp, services: ServiceRegistry) -> None:
        self.app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _READING:
            await self.app(scope, receive, send)
            return
        started, status = time.monotonic(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            caller = scope["state"]["caller"]
            self._services.get(Audit).append(
                event_type="api_call",
                source_type="api_key" if caller.kind == "key" else caller.kind,
                source_id=caller.name,
                target_module=_module(scope["path"]),
                target_endpoint=f"{scope['method']} {scope['path']}",
                duration_ms=round((time.monotonic() - started) * 1000),
                success=status < 400,
                error=None if status < 400 else f"status {status}",
            )


def _module(path: str) -> str:
    first, _, rest = path[1:].partition("/")
    return rest.partition("/")[0] if first == "api" else first
