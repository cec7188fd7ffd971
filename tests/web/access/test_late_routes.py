"""Routes that are read after the start: nobody sees that they were not there, or were there in part."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any

import httpx2
import pytest
from fastapi import APIRouter, FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from parachute.server.routes import ROUTES
from parachute.web.http.late_routes import Find, LateRoutes, part_of

from .gate import answer_of, drive


def routers() -> tuple[APIRouter, APIRouter]:
    """Two that share a path, as runs and sessions do."""
    first, second = APIRouter(), APIRouter()

    @first.post("/api/chat")
    async def send() -> str:
        return "sent"

    @first.get("/api/chat/{name}")
    async def one(name: str) -> str:
        return name

    @second.get("/api/chat")
    async def everything() -> str:
        return "all"

    @second.get("/api/files")
    async def another_part() -> str:
        return "files"

    return first, second


def table() -> dict[str, tuple[Find, ...]]:
    """A table with them, and with a part that none of them is about."""
    first, second = routers()
    return {"chat": (lambda: first, lambda: second), "files": (lambda: second,)}


class App:
    """An application with one early route, late ones, and a last resort behind them."""

    def __init__(self, table: Mapping[str, tuple[Find, ...]]) -> None:
        self.app = FastAPI()
        self.app.get("/early")(self._early)
        self.otherwise: list[str] = []
        self.late = LateRoutes(self.app, table, self._last, early="chat")
        self.app.router.default = self.late

    async def _early(self) -> str:
        return "early"

    async def _last(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.otherwise.append(scope["path"])
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def call(self, method: str, path: str) -> tuple[int, Any, str | None]:
        """Status, what was answered, and which methods are allowed."""
        transport = httpx2.ASGITransport(app=self.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
            answer = await client.request(method, path)
            text = answer.json() if answer.status_code == 200 and answer.content else None
            return answer.status_code, text, answer.headers.get("allow")


REQUESTS = [
    ("GET", "/api/chat"),
    ("POST", "/api/chat"),
    ("DELETE", "/api/chat"),
    ("HEAD", "/api/chat"),
    ("OPTIONS", "/api/chat"),
    ("GET", "/api/chat/one"),
    ("GET", "/api/chat/"),
    ("GET", "/api/chat/one/"),
    ("GET", "/api/files"),
    ("POST", "/api/files"),
    ("GET", "/api"),
    ("GET", "//api/chat"),
    ("GET", "/api/module/x"),
    ("GET", "/early"),
    ("POST", "/early"),
    ("GET", "/early/"),
    ("GET", "/"),
]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
async def test_the_first_request_is_answered_as_every_later_one(method: str, path: str) -> None:
    made = App(table())
    first = await made.call(method, path)
    made.late.read()
    seen = list(made.otherwise)
    assert await made.call(method, path) == first
    assert made.otherwise == [*seen, *seen], "the last resort is asked once for each"


class Slow:
    """Finds routers one by one, each when it is let."""

    def __init__(self) -> None:
        self.found = routers()
        self.reached = [threading.Event(), threading.Event()]
        self.goes_on = [threading.Event(), threading.Event()]
        self.times = [0, 0]

    def table(self) -> dict[str, tuple[Find, ...]]:
        """A table with both."""
        return {"chat": (partial(self._find, 0), partial(self._find, 1)), "files": (lambda: self.found[1],)}

    def _find(self, number: int) -> APIRouter:
        self.times[number] += 1
        self.reached[number].set()
        self.goes_on[number].wait()
        return self.found[number]

    def let_go(self) -> None:
        """Wait for nothing more."""
        for event in self.goes_on:
            event.set()


@pytest.fixture
async def slow() -> AsyncIterator[Slow]:
    """A reading that waits for the test."""
    made = Slow()
    yield made
    made.let_go()


async def test_who_asks_in_the_middle_of_the_reading_waits_for_all_of_it(slow: Slow) -> None:
    made = App(slow.table())
    waiting = [asyncio.create_task(made.call("GET", "/api/chat/one"))]
    slow.goes_on[0].set()
    await asyncio.to_thread(slow.reached[1].wait)
    waiting += [asyncio.create_task(made.call(*request)) for request in (("GET", "/api/chat"), ("POST", "/api/chat"))]
    assert await made.call("GET", "/early") == (200, "early", None), "what is there already is answered meanwhile"
    assert (await made.call("GET", "/api/module/x"))[0] == 404, "and so is what no line is about"
    assert not any(task.done() for task in waiting)
    slow.let_go()
    assert await asyncio.gather(*waiting) == [(200, "one", None), (200, "all", None), (200, "sent", None)]
    assert slow.times == [1, 1]
    assert made.otherwise == ["/api/module/x"]


async def test_the_end_waits_for_a_reading_and_begins_none(slow: Slow) -> None:
    idle = App(slow.table())
    idle.late.start()
    await idle.late.close()
    assert slow.times == [0, 0]
    made = App(slow.table())
    made.late.start()
    await asyncio.to_thread(slow.reached[0].wait)
    closing = asyncio.create_task(made.late.close())
    assert await made.call("GET", "/early") == (200, "early", None)
    assert not closing.done()
    slow.let_go()
    await closing


async def test_a_reading_that_failed_is_tried_again() -> None:
    _, second = routers()
    outcomes: list[Any] = [RuntimeError("no memory"), second]

    def find() -> APIRouter:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        found: APIRouter = outcome
        return found

    made = App({"chat": (find,)})
    with pytest.raises(RuntimeError, match="no memory"):
        await made.call("GET", "/api/chat")
    assert await made.call("GET", "/api/chat") == (200, "all", None)
    assert await made.call("GET", "/api/chat") == (200, "all", None)


async def test_other_kinds_of_connection_read_nothing(slow: Slow) -> None:
    made = App(slow.table())
    scope = {"type": "websocket", "path": "/api/chat", "headers": [], "query_string": b"", "root_path": ""}
    assert answer_of(await drive(made.app, scope)).status == 404
    assert slow.times == [0, 0]


async def test_the_schema_has_them() -> None:
    made = App(table())
    made.late.read()
    assert sorted(made.app.openapi()["paths"]) == ["/api/chat", "/api/chat/{name}", "/api/files", "/early"]


def test_each_line_of_the_table_has_every_router_that_it_is_about() -> None:
    found: dict[str, set[tuple[Any, ...]]] = defaultdict(set)
    finds = {place_of(find): find for line in ROUTES.values() for find in line}
    for place, find in finds.items():
        for route in find().routes:
            assert isinstance(route, Route)
            found[part_of(route.path)].add(place)
    assert {part: {place_of(find) for find in line} for part, line in ROUTES.items()} == found


def place_of(find: Find) -> tuple[Any, ...]:
    """Return the module that a line of the table asks for its router."""
    assert isinstance(find, partial)
    return find.args


async def test_what_nobody_asks_for_is_not_read() -> None:
    slow = Slow()
    slow.let_go()
    made = App(slow.table())
    assert await made.call("GET", "/api/files") == (200, "files", None)
    assert slow.times == [0, 0]
    assert await made.call("POST", "/api/chat") == (200, "sent", None)
    assert slow.times == [1, 1]
