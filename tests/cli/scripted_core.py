"""A core API that says what a test wrote down, behind a real control socket; it runs in a thread of the test."""

import asyncio
import json
import logging
import socket
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from parachute.config.settings.home import Home
from parachute.supervisor import control
from tests.support.gate import Gate
from tests.support.quick_server import QuickServer
from tests.support.waiting import SECONDS as DEADLINE

SESSION = "0d6a3f0e-6c1d-4a35-9d5c-0f0c8a1b2c3d"
DROP = "drop"
"""Cut the connection here, without an end."""
ABORT = "abort"
"""Wait here until somebody aborts the run."""
ANSWER = "answer"
"""Wait here until a question, or a permission request, is answered."""

Step = Mapping[str, Any] | str | Gate


@dataclass(frozen=True, slots=True)
class Call:
    """One request that came in."""

    method: str
    path: str
    query: dict[str, str]
    token: str
    body: Any


class ScriptedCore:
    """`with ScriptedCore(home, steps) as core:`; every message is answered by the steps, in order.

    `turns` and `waiting` are what is asked for after each turn; that is not among the `calls`.
    """

    def __init__(self, home: Home, steps: Sequence[Step] = ()) -> None:
        self.home = home
        self.steps = list(steps)
        self.calls: list[Call] = []
        self.answers: dict[tuple[str, str], tuple[int, Any]] = {}
        self.turns: list[dict[str, Any]] = []
        self.waiting: list[dict[str, Any]] = []
        self.state = "running"
        self.environment: dict[str, str] = {}
        self.aborts = True
        self._cut = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="core", daemon=True)
        self._failure: BaseException | None = None

    def paths(self) -> list[str]:
        """The calls, as `METHOD /path`."""
        return [f"{call.method} {call.path}" for call in self.calls]

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        assert self._ready.wait(DEADLINE)
        if self._failure:
            raise self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(DEADLINE)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop, self._aborted, self._answered = asyncio.Event(), asyncio.Event(), asyncio.Event()
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        log = logging.getLogger("uvicorn.error")
        level = log.level
        log.setLevel(logging.CRITICAL)  # it complains of every dropped stream
        app = Starlette(routes=[Route("/{path:path}", self._answer, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])])
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none")
        server = QuickServer(config)
        try:
            commands = await control.serve(self.home, self._control)
        except BaseException as error:
            self._failure = error
            self._ready.set()
            raise
        serving = asyncio.create_task(server.serve([listener]))
        self._ready.set()
        await self._stop.wait()
        server.end()
        await serving
        log.setLevel(level)
        commands.close()

    async def _control(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["operation"] == "started_with":
            return {"host": "127.0.0.1", "port": self.port, "environment": self.environment}
        if request["operation"] == "start":
            self.state = "running"
            return {}
        assert request["operation"] == "status"
        core = {"name": "core", "state": self.state, "process": 1, "seconds": 5, "restarts": 0, "reason": "It broke."}
        return {
            "main_server_host": "127.0.0.1",
            "main_server_port": self.port,
            "main_server_healthy": self.state == "running",
            "main_server_uptime_seconds": 5,
            "main_server_version": "0.1.0",
            "units": [core],
        }

    async def _answer(self, request: Request) -> Response:
        body = await request.body()
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        query = dict(request.query_params)
        path = request.url.path
        if path == f"/api/chat/{SESSION}/turns":
            return JSONResponse({"turns": self.turns})
        if (request.method, path) == ("GET", "/api/inbox") and ("GET", path) not in self.answers:
            return JSONResponse({"items": self.waiting, "problems": []})
        is_file = request.headers.get("content-type") == "application/octet-stream"
        sent = body if is_file else json.loads(body) if body else None
        self.calls.append(Call(request.method, path, query, token, sent))
        if scripted := self.answers.get((request.method, path)):
            return JSONResponse(scripted[1], scripted[0])
        match request.method, path.rpartition("/")[2]:
            case "POST", "chat":
                return StreamingResponse(self._events(0), media_type="text/event-stream")
            case "GET", "events":
                return StreamingResponse(self._events(int(query["after"])), media_type="text/event-stream")
            case "POST", "abort":
                if self.aborts:
                    self._aborted.set()
            case "POST", _ if "/permissions/" in path or path.endswith("/answer"):
                self._answered.set()
            case _:
                return JSONResponse({"detail": f"There is no {path}."}, 404)
        return JSONResponse({"success": True})

    async def _events(self, after: int) -> AsyncIterator[str]:
        yield ": ping\n\n"
        sequence = 0
        for index, step in enumerate(self.steps):
            if isinstance(step, Mapping):
                sequence += 1
                if sequence > after:
                    yield f"data: {json.dumps({**step, 'seq': sequence})}\n\n"
            elif isinstance(step, Gate):
                await step.passed()
            elif step == ABORT:
                await self._aborted.wait()
            elif step == ANSWER:
                await self._answered.wait()
                self._answered.clear()
            elif step == DROP and index >= self._cut:
                self._cut = index + 1
                raise ConnectionError("cut by the test")


def text(content: str) -> dict[str, Any]:
    """The whole text so far."""
    return {"type": "text", "content": content}


def tool(name: str, **fields: Any) -> dict[str, Any]:
    """A tool call."""
    return {"type": "tool_use", "tool": {"id": "t1", "name": name, "input": fields}}


START: dict[str, Any] = {"type": "session", "sessionId": SESSION, "trustLevel": "sandboxed"}
DONE: dict[str, Any] = {"type": "done", "sessionId": SESSION}
