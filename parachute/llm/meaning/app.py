"""The routes of the index, as one ASGI application; only the server asks."""

import asyncio
import base64
import logging
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from parachute.base.errors import InvalidInput, NotFound, ParachuteError
from parachute.base.json_body import object_of, value_of
from parachute.base.json_fields import object_field, text_field
from parachute.core.errors import error_document
from parachute.llm.meaning.index import Index
from parachute.llm.meaning.models import ServerModel
from parachute.llm.offline.exchange import Exchange, Receive, Scope, Send
from parachute.supervisor.activity import Activity
from parachute.web.http.incoming import Gone

_log = logging.getLogger(__name__)
_MOST_SECONDS = 5.0
_LOWEST_PRIORITY = 19
_MOST_MISSING = 5_000

Document = dict[str, Any]


class IndexApp:
    """Answers every request, each in a thread: a question does not wait for a text that is being read."""

    def __init__(self, index: Index, activity: Activity) -> None:
        self._index = index
        self._activity = activity
        # A thread of its own, since it keeps its low priority: a question would wait in it.
        self._reader = ThreadPoolExecutor(1, "reading", initializer=_yield)
        self._routes: dict[tuple[str, str], Callable[[Document], Awaitable[Document]]] = {
            ("POST", "/put"): self._put,
            ("POST", "/work"): self._work,
            ("POST", "/wanted"): self._wanted,
            ("POST", "/vectors"): self._vectors,
            ("POST", "/find"): self._find,
            ("POST", "/missing"): self._missing,
            ("POST", "/search"): self._search,
            ("GET", "/status"): self._status,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        exchange = Exchange(scope, receive, send)
        try:
            with self._activity.under_way():
                await self._answer(exchange)
        except Gone:
            pass  # nobody is there to be answered

    async def _answer(self, exchange: Exchange) -> None:
        try:
            route = self._routes.get((exchange.method, exchange.path))
            if route is None:
                raise NotFound(
                    f"There is no route for {exchange.method} {exchange.path[:200]} here.", key="nothing_here"
                )
            body = object_of(value_of(await exchange.body())) if exchange.method == "POST" else {}
            await exchange.answer(200, await route(body))
        except ParachuteError as error:
            await exchange.answer(error.status, error_document(error))
        except Gone:
            raise
        except Exception as error:
            _log.exception("a request failed")
            await exchange.answer(500, error_document(error))

    async def _put(self, body: Document) -> Document:
        texts, gone = object_field(body, "texts"), body.get("gone", [])
        if not all(isinstance(text, str) for text in texts.values()) or not all(isinstance(key, str) for key in gone):
            raise InvalidInput("texts: texts by their keys are expected.", key="texts_invalid")
        collection, server, marks = text_field(body, "collection"), _server(body), _marks(body)
        return await asyncio.to_thread(self._index.put, collection, texts, gone, server, marks)

    async def _missing(self, body: Document) -> Document:
        collection, marks, gone = text_field(body, "collection"), _marks(body), body.get("gone")
        if gone is not None and not (isinstance(gone, list) and all(isinstance(key, str) for key in gone)):
            raise InvalidInput("gone: a list of keys is expected.", key="gone_invalid")
        return await asyncio.to_thread(self._index.missing, collection, marks, _limit(body, _MOST_MISSING), gone)

    async def _search(self, body: Document) -> Document:
        collection, query = text_field(body, "collection"), text_field(body, "query")
        found = await asyncio.to_thread(self._index.search, collection, query, _limit(body, 200))
        return {"results": [[hit.key, hit.score, hit.has_all, hit.snippet, hit.offset] for hit in found]}

    async def _work(self, body: Document) -> Document:
        seconds, keep = body.get("seconds"), body.get("keep")
        if (
            not isinstance(seconds, int | float)
            or not 0 < seconds <= _MOST_SECONDS
            or not isinstance(keep, list | None)
        ):
            raise InvalidInput("seconds: a number is expected.", key="seconds_invalid")
        await asyncio.to_thread(self._index.load)
        return await self._slow(self._work_slowly, float(seconds), keep)

    async def _slow(self, work: Callable[..., Document], *arguments: Any) -> Document:
        return await asyncio.get_running_loop().run_in_executor(self._reader, work, *arguments)

    def _work_slowly(self, seconds: float, keep: list[str] | None) -> Document:
        if keep is not None:
            self._index.keep(keep)
        return self._index.work(seconds)

    async def _wanted(self, body: Document) -> Document:
        keep, server = body.get("keep"), _server(body)
        if server is None or not isinstance(keep, list | None):
            raise InvalidInput("server: the model of a server is expected.", key="server_model_missing")
        return await self._slow(self._looked_up, server, keep)

    def _looked_up(self, server: ServerModel, keep: list[str] | None) -> Document:
        if keep is not None:
            self._index.keep(keep)
        return self._index.wanted(server)

    async def _vectors(self, body: Document) -> Document:
        server = _server(body)
        if server is None:
            raise InvalidInput("server: the model of a server is expected.", key="server_model_missing")
        try:
            given = {
                int(number): (bytes.fromhex(digest), [base64.b64decode(each, validate=True) for each in own])
                for number, digest, own in body["texts"]
            }
        except (KeyError, ValueError, TypeError) as error:
            raise InvalidInput("texts: numbers, hashes and vectors are expected.", key="vectors_invalid") from error
        return await self._slow(self._index.take, server, given)

    async def _find(self, body: Document) -> Document:
        limit = _limit(body, 200)
        collection, query = text_field(body, "collection"), text_field(body, "query")
        vector = None
        if "vector" in body:
            model, data = text_field(body, "vector_of"), text_field(body, "vector")
            try:
                vector = model, base64.b64decode(data, validate=True)
            except ValueError as error:
                raise InvalidInput("vector: base64 is expected.", key="vector_invalid") from error
        found = await asyncio.to_thread(self._index.find, collection, query, limit, _server(body), vector)
        return {**found, "results": [[near.key, near.score, near.offset] for near in found["results"]]}

    async def _status(self, _: Document) -> Document:
        return await asyncio.to_thread(self._index.status)


def _yield() -> None:
    # Of this thread alone: a question is answered at once while others read. macOS has priorities of processes only.
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOWEST_PRIORITY)


def _server(body: Document) -> ServerModel | None:
    return ServerModel.named(text_field(body, "server")) if body.get("server") is not None else None


def _limit(body: Document, most: int) -> int:
    limit = body.get("limit")
    if not isinstance(limit, int) or not 0 < limit <= most:
        raise InvalidInput(f"limit: 1 to {most} is allowed.", key="limit_out_of_range")
    return limit


def _marks(body: Document) -> dict[str, str]:
    marks = object_field(body, "marks")
    if not all(isinstance(mark, str) for mark in marks.values()):
        raise InvalidInput("marks: texts by their keys are expected.", key="marks_invalid")
    return marks
