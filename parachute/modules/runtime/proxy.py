"""`/api/{name}/…` of a module: passed on to its host as it comes, and back, without being kept in memory."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parachute.base.errors import NotFound, ParachuteError
from parachute.base.services import ServiceRegistry
from parachute.core.errors import ModuleError
from parachute.modules.manifest.models import NAME
from parachute.modules.registry.names import RESERVED
from parachute.modules.runtime.client import HostDown
from parachute.modules.runtime.requests import HEADER, Asking
from parachute.modules.runtime.service import Hosts
from parachute.security.keys.models import Caller
from parachute.web.http.incoming import Gone, Incoming, while_connected
from parachute.web.http.refusals import refuse

OWN = RESERVED | {"chat"}
"""Core answers these itself, also what it has no route for: `chat` belongs to it, whether or not the module is there."""

ALIASES = {"sync": "daily", "import": "imports"}
"""Paths of the app (contract, sections 7 and 10) that a module answers below a part of the same name: /api/sync/push is
/api/daily/sync/push."""

_PREFIX = b"/api/"
_CONTROL = b"/_parachute"
_ANSWER_SECONDS = 60.0
_SENT = frozenset(
    b"accept accept-language content-type if-match if-modified-since if-none-match if-range if-unmodified-since "
    b"last-event-id range user-agent".split()
)
"""Headers of a request that are passed on: never the caller's key, and no identity but the one that core knows itself."""

_RETURNED = frozenset(
    b"accept-ranges allow cache-control content-disposition content-language content-length content-range content-type "
    b"etag expires last-modified retry-after vary".split()
)
"""Headers of an answer that are passed on: no cookies, nothing that changes how a browser treats this whole computer."""

_ADDED = (
    # What a module answers comes from the address of core: as a page it must not act in the user's name.
    (b"content-security-policy", b"sandbox"),
    (b"x-content-type-options", b"nosniff"),
)


class ModuleProxy:
    """Answers what belongs to a module and passes on all else."""

    def __init__(self, app: ASGIApp, services: ServiceRegistry) -> None:
        self.app = app
        self._services = services

    @property
    def _hosts(self) -> Hosts:
        return self._services.get(Hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        target = _target(scope) if scope["type"] == "http" else None
        if target is None or target[0] in OWN:
            await self.app(scope, receive, send)
            return
        name, path = target
        started = False

        async def tracked_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._pass_on(name, path, scope, receive, tracked_send)
        except Gone:
            pass
        except ParachuteError as error:
            if isinstance(error, HostDown):
                error = await self._hosts.explained(name, error)
            if started:
                # The status has been sent: only an early end of the connection shows the error.
                raise ModuleError(
                    f"An answer broke off: {error.message}", error.hint, key="answer_broke_off"
                ) from error
            await refuse(scope, send, error)

    async def _pass_on(self, name: str, path: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        if path.startswith(_CONTROL):
            raise NotFound("This path belongs to the computer itself.", key="computers_own_path")
        host = await self._hosts.host(name)
        incoming = Incoming(receive, _has_body(scope))
        query: bytes = scope["query_string"]
        target = (path + b"?" + query if query else path).decode("latin-1")
        headers = [(key, value) for key, value in scope["headers"] if key in _SENT]
        caller: Caller = scope["state"]["caller"]
        headers.append((b"x-parachute-caller", json.dumps({"kind": caller.kind, "name": caller.name}).encode()))
        body = incoming.chunks() if incoming.has_body else b""
        with contextlib.ExitStack() as held:
            if host.manifest.permissions.sessions == "create":
                word = held.enter_context(self._hosts.requests.answering(await Asking.of(name, scope)))
                headers.append((HEADER, word.encode()))
            # Closing the connection to the host ends what it does for a client that has left.
            await while_connected(
                self._exchange(host.client, scope["method"], target, headers, body, send), incoming.gone()
            )

    @staticmethod
    async def _exchange(
        client: Any, method: str, target: str, headers: Any, body: AsyncIterator[bytes] | bytes, send: Send
    ) -> None:
        async with client.request(method, target, headers, body, _ANSWER_SECONDS) as answer:
            kept = [(key, value) for key, value in answer.headers if key in _RETURNED]
            await send({"type": "http.response.start", "status": answer.status, "headers": [*kept, *_ADDED]})
            async for chunk in answer.body:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


def _target(scope: Scope) -> tuple[str, bytes] | None:
    """The module and the path within it, exactly as they were sent: decoding twice would make another path of it."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    if not raw.startswith(_PREFIX):
        return None
    name, _, rest = raw.removeprefix(_PREFIX).partition(b"?")[0].partition(b"/")
    with contextlib.suppress(UnicodeDecodeError):
        if NAME.fullmatch(found := name.decode("ascii")):
            if found in ALIASES:
                return ALIASES[found], b"/" + name + b"/" + rest
            return found, b"/" + rest
    return None
