"""Routes of a connector for the server: `PUT /messages/{key}`, `POST /typing`, `POST /identity`, `GET /state`."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeVar
from urllib.parse import unquote
from weakref import WeakValueDictionary

from msgspec import Struct, convert, to_builtins

from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.base.json_body import read_value
from parachute.connectors.platforms.models import Chat, Outgoing, Sent
from parachute.connectors.platforms.platform import Platform, Refused
from parachute.connectors.process.masking import Masking
from parachute.connectors.process.server import Server
from parachute.core.errors import error_document
from parachute.supervisor.activity import Activity
from parachute.web.http.incoming import Gone, Incoming

Record = TypeVar("Record", bound=Struct)

log = logging.getLogger("parachute.connector")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Answer = TypeVar("Answer")
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_BODY_LIMIT = 4 * 1024 * 1024
_KEY_LIMIT = 200
_MESSAGES = "/messages/"


class Application:
    """An ASGI application; messages of one chat go out one after the other, in the order in which they were asked for."""

    def __init__(self, platform: Platform, server: Server, activity: Activity, masking: Masking) -> None:
        self._platform = platform
        self._server = server
        self._activity = activity
        self._masking = masking
        self._chats: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        path: str = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
        incoming = Incoming(receive, has_body=scope["method"] in ("POST", "PUT"))
        status, document = 200, {}
        with self._activity.under_way():
            try:
                document = await self._answer(scope["method"], path, await read_value(incoming.chunks(), _BODY_LIMIT))
            except Gone:
                return
            except ParachuteError as error:
                status, document = error.status, error_document(error)
            except Exception as error:
                log.exception("%s %s failed", scope["method"], path.partition("/")[0])
                status, document = 500, error_document(error)
            await _send(status, document, send)

    async def _answer(self, method: str, path: str, document: Any) -> Any:
        match method, path:
            case "GET", "/state":
                return to_builtins(self._server.state)
            case "POST", "/typing":
                await self._asked(self._platform.typing(_record(Chat, document)))
                return {}
            case "POST", "/identity":
                return to_builtins(await self._asked(self._platform.identity()))
            case "PUT", _ if path.startswith(_MESSAGES):
                key = unquote(path.removeprefix(_MESSAGES))
                if not 0 < len(key) <= _KEY_LIMIT:
                    raise InvalidInput(f"key: 1 to {_KEY_LIMIT} characters are expected.", key="delivery_key_length")
                return to_builtins(await self._show(key, _record(Outgoing, document)))
        raise NotFound(f"{method} {path[:60]} does not exist.", key="nothing_here")

    async def _show(self, key: str, outgoing: Outgoing) -> Sent:
        lock = self._chats.setdefault(outgoing.chat.id, asyncio.Lock())
        async with lock:
            try:
                return await self._asked(self._platform.show(key, outgoing))
            except Conflict as refused:
                return Sent(problem=refused.message)

    async def _asked(self, asking: Awaitable[Answer]) -> Answer:
        """The answer of the platform; errors: Unavailable if the same may be asked again, Conflict if it was refused."""
        try:
            return await asking
        except Refused as refused:
            raise Conflict(self._masking.masked(str(refused)), key="refused_by_platform") from refused
        except ConnectionError as error:
            raise Unavailable(
                self._masking.masked(str(error)), "Ask again in a moment.", key="platform_silent"
            ) from error


def _record(kind: type[Record], document: Any) -> Record:
    try:
        return convert(document, kind)
    except ValueError as error:
        raise InvalidInput(f"This is not a valid {kind.__name__}: {error}.", key="record_invalid") from error


async def _send(status: int, document: dict[str, Any], send: Send) -> None:
    body = json.dumps(document).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    # A second request could arrive just as this process leaves, and would be lost.
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
