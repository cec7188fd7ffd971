"""The server's API for modules, on a socket for each: the socket identifies the caller."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from parachute.base.budget import EVENT_BYTES, EVENTS, VALUES, Rate
from parachute.base.errors import InvalidInput, NotAllowed, ParachuteError
from parachute.base.json_body import object_of, read_value
from parachute.base.json_fields import object_field, text_field
from parachute.core.errors import error_document
from parachute.events.bus.service import Events
from parachute.llm.meaning.service import MeaningIndex
from parachute.modules.registry.settings import ModuleSettings
from parachute.modules.runtime.interfaces import Interfaces
from parachute.modules.runtime.models import ModuleAgents, ModuleConversations, ModuleSessions, ModuleSuggestions
from parachute.modules.runtime.service import Hosts
from parachute.web.http.event_stream import encoded
from parachute.web.http.incoming import Gone, while_connected

log = logging.getLogger(__name__)

_TEXTS, _NEAR = 1_000, 200
_BODY_LIMIT = 8 * 1024 * 1024
_DRAIN_SECONDS = 5.0
_VALUES = 10 * VALUES  # what one module asks of another may be a list of all it has

Document = dict[str, Any]
Answer = Callable[[str, Document, Request], Coroutine[Any, Any, Document]]


class CoreApi:
    """The routes; `self.application` is their ASGI application, with the name of the module in `scope["state"]["module"]`."""

    def __init__(
        self,
        hosts: Hosts,
        interfaces: Interfaces,
        events: Events,
        settings: ModuleSettings,
        agents: ModuleAgents,
        conversations: ModuleConversations,
        suggestions: ModuleSuggestions,
        sessions: ModuleSessions,
        meaning: MeaningIndex,
    ) -> None:
        self._hosts = hosts
        self._events = events
        self._settings = settings
        self._agents = agents
        self._conversations = conversations
        self._suggestions = suggestions
        self._sessions = sessions
        self._meaning = meaning
        self._interfaces = interfaces
        self._rates: dict[str, tuple[Rate, Rate]] = {}
        answers: tuple[tuple[str, str, Answer], ...] = (
            ("POST", "/start", self._start),
            ("POST", "/failed", self._failed),
            ("GET", "/interfaces", self._provided),
            ("POST", "/interface", self._interface),
            ("GET", "/settings", self._list_settings),
            ("PUT", "/settings/{setting}", self._set),
            ("DELETE", "/settings/{setting}", self._unset),
            ("POST", "/publish", self._publish),
            ("POST", "/suggest", self._suggest),
            ("POST", "/run-agent", self._run_agent),
            ("POST", "/conversations/{what}", self._conversation),
            ("POST", "/sessions/{what}", self._session),
            ("POST", "/meaning/put", self._put_texts),
            ("POST", "/meaning/find", self._find_texts),
            ("GET", "/meaning/progress", self._meaning_progress),
        )
        routes = [Route(path, _answering(answer), methods=[method]) for method, path, answer in answers]
        self.application = Starlette(
            routes=[
                *routes,
                Route("/sessions/{what}", self._bring, methods=["PUT"]),
                Route("/query", self._query, methods=["POST"]),
            ]
        )

    async def _start(self, module: str, body: Document, _: Request) -> Document:
        folders = body.get("folders")
        if not isinstance(folders, dict):
            raise InvalidInput("folders: an object is expected.", key="folders_invalid")
        await self._hosts.may_start(module, text_field(body, "hash"), folders)
        return {"started": True}

    async def _failed(self, module: str, body: Document, _: Request) -> Document:
        self._hosts.has_failed(module, text_field(body, "reason"))
        return {"noted": True}

    async def _provided(self, module: str, _: Document, __: Request) -> Document:
        return {"interfaces": self._interfaces.provided(module)}

    async def _interface(self, module: str, body: Document, _: Request) -> Document:
        names = text_field(body, "interface"), text_field(body, "method")
        return {"result": await self._interfaces.call(module, *names, object_field(body, "arguments"))}

    async def _list_settings(self, module: str, _: Document, __: Request) -> Document:
        manifest = self._hosts.approved(module).manifest
        return {"settings": await asyncio.to_thread(self._settings.values, module, manifest)}

    async def _set(self, module: str, body: Document, request: Request) -> Document:
        manifest = self._hosts.approved(module).manifest
        setting = request.path_params["setting"]
        await asyncio.to_thread(self._settings.set, module, manifest, setting, body.get("value"))
        return {"set": setting}

    async def _unset(self, module: str, _: Document, request: Request) -> Document:
        manifest = self._hosts.approved(module).manifest
        setting = request.path_params["setting"]
        await asyncio.to_thread(self._settings.delete, module, manifest, setting)
        return {"deleted": setting}

    async def _publish(self, module: str, body: Document, request: Request) -> Document:
        name = text_field(body, "name")
        if not name.startswith(f"{module}."):
            raise NotAllowed(
                f"name: {name[:100]!r} belongs to another module; {module} may publish {module}.* only.",
                key="event_of_other",
            )
        data = object_field(body, "data")
        count, size = self._rates.setdefault(module, (Rate(*EVENTS), Rate(*EVENT_BYTES)))
        if not count.take() or not size.take(int(request.headers.get("content-length") or _BODY_LIMIT)):
            raise ParachuteError(
                f"{module} publishes more than events may take.",
                "Publish less, or more slowly.",
                status=429,
                key="too_many_events",
            )
        event = await self._events.publish(name, data, source=module)
        return {"id": event.id}

    async def _suggest(self, module: str, body: Document, _: Request) -> Document:
        return await self._suggestions.suggest(self._hosts.approved(module), body)

    async def _run_agent(self, module: str, body: Document, _: Request) -> Document:
        approved = self._hosts.approved(module)
        return {"text": await self._agents.run_agent(approved, text_field(body, "agent"), text_field(body, "prompt"))}

    async def _conversation(self, module: str, body: Document, request: Request) -> Document:
        return await self._conversations.answer(self._hosts.approved(module), request.path_params["what"], body)

    async def _session(self, module: str, body: Document, request: Request) -> Document:
        return await self._sessions.answer(self._hosts.approved(module), request.path_params["what"], body)

    async def _bring(self, request: Request) -> Response:
        module: str = request.scope["state"]["module"]
        body = request.stream()
        try:
            query = parse_qs(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
            found = await self._sessions.take(self._hosts.approved(module), request.path_params["what"], query, body)
            answer = JSONResponse(found)
        except ParachuteError as error:
            answer = JSONResponse(error_document(error), error.status)
        except ClientDisconnect:
            return Response(status_code=400)
        if not await _drained(request):
            answer.headers["connection"] = "close"
        return answer

    async def _put_texts(self, module: str, body: Document, _: Request) -> Document:
        texts, gone = object_field(body, "texts"), body.get("gone", [])
        keys = [*texts, *gone] if isinstance(gone, list) else [None]
        if not all(isinstance(each, str) for each in (*keys, *texts.values())) or len(keys) > _TEXTS:
            raise InvalidInput(
                f"texts: up to {_TEXTS:,} texts by their keys, and a list of keys that are gone, are expected.",
                key="texts_invalid",
            )
        return {"index": await self._meaning.put(collection_of(module), texts, gone)}

    async def _find_texts(self, module: str, body: Document, _: Request) -> Document:
        limit = body.get("limit")
        if not isinstance(limit, int) or not 1 <= limit <= _NEAR:
            raise InvalidInput(f"limit: 1 to {_NEAR} is allowed.", key="limit_out_of_range")
        index, found = await self._meaning.find(collection_of(module), text_field(body, "query"), limit)
        return {"index": index, "results": [[near.key, near.score] for near in found]}

    async def _meaning_progress(self, _: str, __: Document, ___: Request) -> Document:
        now = self._meaning.status()
        return {"waiting": now.waiting, "total": now.total}

    async def _query(self, request: Request) -> Response:
        module: str = request.scope["state"]["module"]
        try:
            body = await _document(request)
            servers = body.get("mcp_servers")
            if servers is not None and not (
                isinstance(servers, list) and all(isinstance(each, str) for each in servers)
            ):
                raise InvalidInput("mcp_servers: a list of names is expected.", key="mcp_servers_invalid")
            approved = self._hosts.approved(module)
            if body.get("agent") is None and approved.manifest.permissions.sessions == "create":
                raise NotAllowed(
                    "A module that reads what strangers wrote asks only agents that its manifest names.",
                    "Write one under agents in manifest.yaml, and name it.",
                    key="agent_not_named",
                )
            events = self._agents.query(
                approved,
                message=text_field(body, "message"),
                session_id=None if body.get("session_id") is None else text_field(body, "session_id"),
                mcp_servers=servers,
                agent=None if body.get("agent") is None else text_field(body, "agent"),
            )
            # What cannot begin is an error with a status of its own.
            first = await anext(events, None)
        except ParachuteError as error:
            return JSONResponse(error_document(error), error.status)
        return StreamingResponse(_stream(first, events), media_type="text/event-stream")


def collection_of(module: str) -> str:
    """The name of a module's own texts in the index of meanings: which socket asks says whose they are."""
    return f"module:{module}"


async def _stream(first: Document | None, events: AsyncGenerator[Document, None]) -> AsyncIterator[bytes]:
    async with contextlib.aclosing(events):
        try:
            if first is not None:
                yield _line(first)
            async for event in events:
                yield _line(event)
        except ParachuteError as error:
            yield _line({"type": "error", **error_document(error)})


def _line(event: Document) -> bytes:
    return b"data: " + encoded(event) + b"\n\n"


def _answering(function: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            body = await _document(request) if request.method in ("POST", "PUT") else {}
            work = function(request.scope["state"]["module"], body, request)
            # An agent must not go on for a module that has left.
            return JSONResponse(await while_connected(work, _left(request)))
        except ParachuteError as error:
            return JSONResponse(error_document(error), error.status)
        except (ClientDisconnect, Gone):
            return Response(status_code=400)
        except Exception as error:
            log.exception("A module's request failed")
            return JSONResponse(error_document(error), 500)

    return answer


async def _drained(request: Request) -> bool:
    """Take in what nobody wanted, within bounds: its sender would see a broken connection and not the answer."""
    left = _BODY_LIMIT
    with contextlib.suppress(ClientDisconnect, RuntimeError, TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for piece in request.stream():
                left -= len(piece)
                if left < 0:
                    return False
            return True
    return False


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _document(request: Request) -> Document:
    return object_of(await read_value(request.stream(), _BODY_LIMIT, _VALUES))
