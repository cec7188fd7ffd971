"""The module as an ASGI application: its routes, and the paths below /_parachute by which core calls the rest."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

from parachute.base.errors import InvalidInput, NotFound, ParachuteError
from parachute.base.json_fields import object_field, text_field
from parachute.core.application import Application
from parachute.core.errors import ModuleError, error_document
from parachute.core.event import Event
from parachute.core.request import Caller, Request
from parachute.core.response import JSON, Rendered, refusal
from parachute.core.values import encode
from parachute.modules.host_process.approved_changes import ApprovedChanges
from parachute.modules.host_process.life_cycle import LifeCycle
from parachute.supervisor.activity import Activity
from parachute.web.http.incoming import Gone, Incoming, while_connected

log = logging.getLogger("parachute.module")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CONTROL = "/_parachute/"
_QUIET = ("health", "describe")
_INTERFACES_SECONDS = 10.0
"""For so long the module may believe what it knows of who provides what."""


class HostApp:
    """Every connection ends after its one answer, and counts as activity until then, questions about health excepted.

    It is made before the module is loaded, and answers once `open` was called.
    """

    def __init__(self, activity: Activity) -> None:
        self._application: Application
        self._life_cycle: LifeCycle
        self._changes: ApprovedChanges
        self._activity = activity
        self._refreshed = -_INTERFACES_SECONDS
        self._refreshing = asyncio.Lock()

    def open(self, application: Application, life_cycle: LifeCycle) -> None:
        """Answer for this module from now on."""
        self._application = application
        self._life_cycle = life_cycle
        self._changes = ApprovedChanges(application)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        path: str = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
        if path.startswith(CONTROL):
            name = path.removeprefix(CONTROL)
            if name in _QUIET:
                await self._control(name, scope, receive, send)
            else:
                with self._activity.under_way():
                    await self._control(name, scope, receive, send)
        else:
            with self._activity.under_way():
                await self._route(path, scope, receive, send)

    async def refresh(self) -> None:
        """Learn who provides the interfaces that the module uses, if what it knows is old; core may be down for a while."""
        core = self._application.module.core
        if not core.uses_interfaces:
            return
        async with self._refreshing:
            if time.monotonic() - self._refreshed < _INTERFACES_SECONDS:
                return
            try:
                await core.refresh_interfaces()
            except ParachuteError as error:
                log.warning("The providers of interfaces are unknown: %s", error)
            self._refreshed = time.monotonic()

    async def _route(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        incoming = Incoming(receive, "transfer-encoding" in headers or headers.get("content-length", "0") != "0")
        try:
            request = Request(
                method=scope["method"],
                path=path,
                query_string=scope["query_string"].decode("latin-1"),
                headers=headers,
                caller=_caller(headers),
                chunks=incoming.chunks(),
            )
            await self.refresh()
            answer = await self._application.respond(request)
            if answer.chunks is None or request.chunks is not None:
                request.chunks = None  # whoever did not read the body by now cannot do it any more
                await incoming.drain()
            await _send(answer, request.method == "HEAD", send, incoming)
        except ParachuteError as error:
            await _send(refusal(error), False, send, incoming)
        except Gone:
            pass

    async def _control(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        status = 200
        incoming = Incoming(receive, has_body=scope["method"] == "POST")
        try:
            document = await self._answer(scope["method"], name, incoming)
            body = encode(document)
        except Gone:
            return
        except ParachuteError as error:
            status, body = error.status, encode(error_document(error))
        except Exception as error:
            log.exception("%s failed", name)
            status, body = 500, encode(error_document(error))
        await incoming.drain()
        await _send(Rendered(status, {"content-type": JSON}, body), False, send, incoming)

    async def _answer(self, method: str, name: str, incoming: Incoming) -> Any:
        match method, name:
            case "GET", "health":
                return {"status": "ok", "name": self._application.module.name}
            case "GET", "describe":
                return self._application.describe()
            case "POST", "event":
                return {"handled": await self._event(await _document(incoming))}
            case "POST", "tool":
                document = await _document(incoming)
                await self.refresh()
                tool = self._application.call_tool(text_field(document, "name"), object_field(document, "arguments"))
                # Whoever leaves has cancelled it.
                return {"content": await while_connected(tool, incoming.gone())}
            case "POST", "para":
                return {"item": await self._application.resolve(text_field(await _document(incoming), "id"))}
            case "POST", "interface":
                document = await _document(incoming)
                await self.refresh()
                names = text_field(document, "interface"), text_field(document, "method")
                arguments = object_field(document, "arguments")
                return {"result": await self._application.call_interface(*names, arguments)}
            case "POST", "suggestion":
                document = await _document(incoming)
                await self.refresh()
                return await self._changes.answer(document)
            case "POST", "lifecycle":
                step = text_field(await _document(incoming), "step")
                await (self._life_cycle.enable() if step == "enable" else self._life_cycle.disable(step))
                return {"done": step}
        raise NotFound(f"{method} {CONTROL}{name[:60]} does not exist.", key="nothing_here")

    async def _event(self, document: dict[str, Any]) -> int:
        await self.refresh()
        timestamp = document.get("timestamp", "")
        if not isinstance(timestamp, str):
            raise InvalidInput("timestamp: text is expected.", key="timestamp_invalid")
        event = Event(
            text_field(document, "id"), text_field(document, "name"), object_field(document, "data"), timestamp
        )
        return await self._application.deliver(event)


async def _send(answer: Rendered, without_body: bool, send: Send, incoming: Incoming) -> None:
    headers = dict(answer.headers)
    # A second request could arrive just as this process leaves, and would be lost.
    headers["connection"] = "close"
    if answer.chunks is None and answer.status not in (204, 304):
        headers["content-length"] = str(len(answer.body))
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    try:
        await send({"type": "http.response.start", "status": answer.status, "headers": encoded})
        if answer.chunks is None or without_body:
            await send({"type": "http.response.body", "body": b"" if without_body else answer.body})
        else:
            await _stream(answer.body, answer.chunks, send, incoming)
    finally:
        if answer.close is not None:
            await answer.close()


async def _stream(first: bytes, chunks: AsyncIterator[bytes], send: Send, incoming: Incoming) -> None:
    """Send until the end, or until the client goes away: what makes the values is cancelled then."""

    async def pump() -> None:
        await send({"type": "http.response.body", "body": first, "more_body": True})
        async for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    await while_connected(pump(), incoming.gone())


async def _document(incoming: Incoming) -> dict[str, Any]:
    request = Request("POST", "/", chunks=incoming.chunks())
    document = await request.json()
    if not isinstance(document, dict):
        raise InvalidInput("body: a JSON object is expected.", key="body_not_an_object")
    return document


def _caller(headers: dict[str, str]) -> Caller:
    """The caller that core names; only core reaches this socket."""
    try:
        document = json.loads(headers.pop("x-parachute-caller", "{}"))
        return Caller(str(document.get("kind", "local")), str(document.get("name", "")))
    except (ValueError, AttributeError) as error:
        raise ModuleError("The header x-parachute-caller is not what core sends.", key="caller_invalid") from error
