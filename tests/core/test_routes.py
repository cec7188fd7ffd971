"""Routes: what they take, what they answer."""

import asyncio
import datetime
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import pytest

from parachute.core import Caller, Conflict, Module, ModuleError, NotFound, Request, Response, route
from parachute.core.testing import run
from tests.support.errors import raises


class Colour(Enum):
    RED = "red"


@dataclass
class Note:
    text: str
    tags: list[str] = field(default_factory=list)


class Shapes(Module):
    name = "shapes"

    @route("GET", "/items/new")
    async def new(self) -> dict[str, Any]:
        return {"which": "new"}

    @route("GET", "/items/{item}")
    async def item(self, item: int, wide: bool = False, size: float | None = None) -> dict[str, Any]:
        return {"item": item, "wide": wide, "size": size}

    @route("PUT", "/entities/{id:path}")
    async def entity(self, id: str, data: dict[str, Any], commit_msg: str = "") -> dict[str, Any]:
        return {"id": id, "data": data, "commit_msg": commit_msg}

    @route("DELETE", "/files")
    async def remove(self, root: str, paths: list[str]) -> dict[str, Any]:
        return {"root": root, "paths": paths}

    @route("POST", "/notes")
    async def note(
        self,
        note: Note,
        day: datetime.date | None = None,
        mode: Literal["fast", "slow"] = "fast",
        colour: Colour = Colour.RED,
    ) -> Any:
        return {"note": note, "day": day, "mode": mode, "colour": colour}

    @route("POST", "/whole")
    async def whole(self, body: Note) -> Note:
        return body

    @route("POST", "/raw")
    async def raw(self, body: bytes) -> bytes:
        return body[::-1]

    @route("POST", "/counted")
    async def counted(self, request: Request) -> dict[str, Any]:
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
        return {"size": size, "caller": request.caller.name, "agent": request.headers.get("user-agent")}

    @route("GET", "/plain")
    def plain(self, name="you", times=1):  # type: ignore[no-untyped-def]
        asyncio_is_free(asyncio)
        return "hello " + name * times

    @route("GET", "/teapot")
    async def teapot(self) -> Response:
        return Response({"short": "stout"}, status=418, headers={"X-Kind": "pot"})

    @route("GET", "/foreign")
    async def foreign(self) -> Any:
        class Other:
            status_code = 201
            headers = {"content-type": "text/html"}
            body = b"<p>"

        return Other()

    @route("GET", "/stream/{what}")
    async def stream(self, what: str) -> AsyncIterator[Any]:
        if what == "early":
            raise NotFound("There is no such stream.")
        yield {"text": "a\nb"}
        if what == "late":
            raise Conflict("It stopped.")
        if what == "crash":
            raise RuntimeError("secret detail")
        yield Note("end")

    @route("GET", "/numbers")
    def numbers(self) -> Iterator[int]:
        yield from (1, 2)

    @route("GET", "/bytes")
    async def some_bytes(self) -> Response:
        async def parts() -> AsyncIterator[bytes]:
            yield b"ab"
            yield b"cd"

        return Response(parts(), media_type="audio/wav")

    @route("GET", "/fail/{how}")
    async def fail(self, how: str) -> Any:
        match how:
            case "crash":
                raise KeyError("secret detail")
            case "known":
                raise Conflict("It is there already.", "Choose another name.")
            case "json":
                return {"value": object()}
            case "number":
                return {"value": float("nan")}
            case "header":
                return Response("", headers={"x": "a\r\nset-cookie: b"})
        return Response("", status=99)

    @route("GET", "/surrogate")
    async def surrogate(self) -> dict[str, str]:
        return {"half": "\ud800"}


def asyncio_is_free(module: Any) -> None:
    """A plain method runs beside the event loop, not in it."""
    with pytest.raises(RuntimeError):
        module.get_running_loop()


async def test_arguments_come_from_path_query_and_body() -> None:
    async with run(Shapes) as shapes:
        assert (await shapes.get("/items/new")).json() == {"which": "new"}
        assert (await shapes.get("/items/7", wide=True, size="2.5")).json() == {"item": 7, "wide": True, "size": 2.5}
        answer = await shapes.put("/entities/Person/J%C3%B6rg%2FK", {"data": {"a": 1}}, commit_msg="why")
        assert answer.json() == {"id": "Person/Jörg/K", "data": {"a": 1}, "commit_msg": "why"}
        assert (await shapes.delete("/files", root="Daily", paths=["a", "b"])).json()["paths"] == ["a", "b"]
        assert (await shapes.delete("/files", root="Daily", paths="a")).json()["paths"] == ["a"]
        answer = await shapes.post("/notes", {"note": {"text": "x"}, "day": "2024-01-15", "mode": "slow", "more": 1})
        assert answer.json() == {
            "note": {"text": "x", "tags": []},
            "day": "2024-01-15",
            "mode": "slow",
            "colour": "red",
        }
        assert (await shapes.post("/whole", {"text": "x", "tags": ["t"]})).json() == {"text": "x", "tags": ["t"]}
        assert (await shapes.post("/raw", b"abc")).body == b"cba"
        caller = Caller("key", "phone")
        answer = await shapes.request("POST", "/counted", b"x" * 1000, headers={"User-Agent": "a"}, caller=caller)
        assert answer.json() == {"size": 1000, "caller": "phone", "agent": "a"}
        assert (await shapes.get("/plain", name="ho", times=2)).text == "hello hoho"
        assert (await shapes.get("/items/7/")).status == 200


async def test_what_is_wrong_gets_a_sentence() -> None:
    async with run(Shapes) as shapes:
        for method, path, body, status, detail in (
            ("GET", "/items/seven", None, 422, "item: expected a whole number, not 'seven'."),
            ("GET", "/items/7?wide=perhaps", None, 422, "wide: expected true or false, not 'perhaps'."),
            ("GET", "/items/7?size=nan", None, 422, "size: expected a number, not 'nan'."),
            (
                "GET",
                "/items/" + "9" * 30,
                None,
                422,
                "item: expected a whole number, not '999999999999999999999999999999'.",
            ),
            ("POST", "/notes", {}, 422, "note: this is required (an object)."),
            ("POST", "/notes", {"note": {"text": 3}}, 422, "note.text: expected text, not 3."),
            (
                "POST",
                "/notes",
                {"note": {"txt": "a"}},
                422,
                "note.txt: unknown field; allowed are text, tags.",
            ),
            ("POST", "/notes", {"note": {"text": "a", "tags": ["a", 1]}}, 422, "note.tags[1]: expected text, not 1."),
            ("POST", "/notes", {"note": {"text": "a"}, "mode": "x"}, 422, "mode: expected one of fast, slow, not 'x'."),
            (
                "POST",
                "/notes",
                {"note": {"text": "a"}, "day": "yesterday"},
                422,
                "day: expected a date such as 2024-01-15, not 'yesterday'.",
            ),
            (
                "POST",
                "/notes",
                {"note": {"text": "a"}, "colour": "blue"},
                422,
                "colour: expected one of red, not 'blue'.",
            ),
            ("POST", "/notes", b"{", 400, None),
            ("POST", "/notes", b'{"note": NaN}', 400, None),
            ("POST", "/notes", b"[" * 100_000, 400, None),
            ("POST", "/notes", [1], 422, "body: a JSON object is expected."),
            ("GET", "/nothing", None, 404, "There is nothing at /nothing."),
            ("DELETE", "/notes", None, 405, "DELETE is not possible here; allowed: POST."),
            ("GET", "/fail/known", None, 409, "It is there already."),
            ("GET", "/fail/crash", None, 500, "The module shapes failed with KeyError."),
            ("GET", "/fail/json", None, 502, None),
            ("GET", "/fail/number", None, 502, None),
            ("GET", "/fail/header", None, 502, None),
            ("GET", "/fail/status", None, 502, None),
            ("GET", "/stream/early", None, 404, "There is no such stream."),
            ("GET", "/items/%FF", None, 422, None),
        ):
            path, _, query = path.partition("?")
            answer = await shapes.request(method, path, body, query=dict([query.split("=")]) if query else None)
            assert answer.status == status
            said = answer.json()["detail"]
            assert isinstance(said, str), (method, path, body, status, detail)
            assert detail in (None, said)
            assert "secret" not in answer.text, (method, path, body, status, detail)
            assert "Traceback" not in answer.text, (method, path, body, status, detail)


async def test_a_body_that_is_no_json_is_refused_by_its_type() -> None:
    async with run(Shapes) as shapes:
        answer = await shapes.request("POST", "/notes", b"note=1", headers={"content-type": "text/plain"})
        assert answer.status == 415


async def test_answers_of_every_kind() -> None:
    async with run(Shapes) as shapes:
        teapot = await shapes.get("/teapot")
        assert (teapot.status, teapot.headers["x-kind"], teapot.json()) == (418, "pot", {"short": "stout"})
        foreign = await shapes.get("/foreign")
        assert (foreign.status, foreign.headers["content-type"], foreign.body) == (201, "text/html", b"<p>")
        assert (await shapes.get("/stream/whole")).body == (
            b'data: {"text":"a\\nb"}\n\ndata: {"text":"end","tags":[]}\n\n'
        )
        assert (await shapes.get("/numbers")).status == 200
        sound = await shapes.get("/bytes")
        assert (sound.body, sound.headers["content-type"]) == (b"abcd", "audio/wav")
        assert (await shapes.get("/surrogate")).json() == {"half": "\ud800"}


async def test_a_stream_that_fails_says_so_in_its_last_event() -> None:
    async with run(Shapes) as shapes:
        late = (await shapes.get("/stream/late")).events()
        error = {"type": "Conflict", "message": "It stopped.", "hint": None, "key": "conflict"}
        assert late[-1] == {"type": "error", "error": error}
        crash = await shapes.get("/stream/crash")
        assert crash.events()[-1]["error"]["message"] == "It failed with RuntimeError; its log has the details."
        assert "secret" not in crash.text


def test_routes_that_cannot_work_are_refused_when_the_module_loads() -> None:
    with raises("unknown_method", names="TRACE"):
        route("TRACE", "/x")
    with raises("path_not_allowed"):
        route("GET", "x")
    with raises("path_not_allowed", names="_parachute"):
        route("GET", "/_parachute/event")


async def _load(function: Any, *marks: Any) -> None:
    for mark in marks:
        function = mark(function)
    async with run(type("Odd", (Module,), {"name": "odd", "odd": function})):
        pass


async def test_signatures_that_cannot_work_are_refused_when_the_module_loads() -> None:
    async def without(self: Any) -> None: ...
    async def unknown(self: Any, x: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821
    async def unfit(self: Any, x: complex) -> None: ...
    async def spread(self: Any, *x: int) -> None: ...
    async def fine(self: Any, x: int) -> None: ...

    for function, mark, said in (
        (without, route("GET", "/{x}"), "no parameter takes it"),
        (unknown, route("GET", "/x"), "Nowhere"),
        (unfit, route("GET", "/x"), "the type complex cannot travel as JSON"),
        (spread, route("GET", "/x"), "has no name"),
        (fine, route("GET", "/{x}/{x}"), "twice"),
        (fine, route("GET", "/{x"), "brace"),
    ):
        with pytest.raises(ModuleError, match=said):
            await _load(function, mark)


async def test_two_methods_for_one_route_are_refused() -> None:
    class Twice(Module):
        name = "twice"

        @route("GET", "/a")
        async def first(self) -> None: ...

        @route("GET", "/a")
        async def second(self) -> None: ...

    with raises("route_taken"):
        async with run(Twice):
            pass
