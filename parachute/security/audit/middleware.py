"""Audit of requests: each one that changes something, and counts of what is read of modules."""

import time
from collections.abc import Collection
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parachute.base.services import ServiceRegistry
from parachute.security.audit.reads import Reads
from parachute.security.audit.records import para_ids
from parachute.security.audit.service import Audit

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_APP = b"Parachute-Chat/"
"""Beginning of the header by which the app names its requests (contract, section 0)."""


class AuditMiddleware:
    """Append a record for each writing request, with its caller and how it ended; `own` are the server's first path segments."""

    def __init__(self, app: ASGIApp, services: ServiceRegistry, own: Collection[str] = ()) -> None:
        self.app = app
        self._services = services
        self._own = own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_reading, module = scope["method"] in _READING, _module(scope["path"])
        if is_reading and (module in self._own or not scope["path"].startswith("/api/")):
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
            source, duration = _source(scope), round((time.monotonic() - started) * 1000)
            if is_reading:
                reads = self._services.get(Reads)
                reads.add(source, module, f"GET {_route(scope['path'])}", duration, success=status < 400)
            else:
                self._services.get(Audit).append(
                    event_type="api_call",
                    source_type=source[0],
                    source_id=source[1],
                    target_module=module,
                    target_endpoint=f"{scope['method']} {scope['path']}",
                    para_ids_involved=para_ids(scope["path"]),
                    duration_ms=duration,
                    success=status < 400,
                    error=None if status < 400 else f"status {status}",
                )


def _source(scope: Scope) -> tuple[str, str]:
    """The kind and the name of who asks (spec 000: the app by itself, though it has a key as everybody)."""
    caller: Any = scope["state"]["caller"]
    if caller.kind != "key":
        return caller.kind, caller.name
    from_app = any(name == b"user-agent" and value.startswith(_APP) for name, value in scope["headers"])
    return ("flutter_app" if from_app else "api_key"), caller.name


def _module(path: str) -> str:
    first, _, rest = path[1:].partition("/")
    return rest.partition("/")[0] if first == "api" else first


def _route(path: str) -> str:
    """The path without the names of what was read."""
    return "/".join(path.split("/")[:4])
