"""A scriptable stand-in for Anthropic's Messages API, on a loopback port, for the real SDK and CLI.

It runs in a thread with an event loop of its own, so the test may be sync or async, and what is tested may be another
process. Nothing listens anywhere but on 127.0.0.1.
"""

import asyncio
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import uvicorn

from .changes import Changes
from .gate import Gate
from .messages_app import MessagesApp, tracking_protocol
from .quick_server import QuickServer
from .recorded import Log, RecordedRequest
from .replies import (
    ErrorReply,
    Reply,
    Scripted,
    big_text,
    drop_after,
    error,
    hold,
    several,
    stream_error,
    text,
    thinking,
    tool_use,
)
from .waiting import SECONDS as DEADLINE

__all__ = [
    "ErrorReply",
    "Gate",
    "MessagesAPI",
    "RecordedRequest",
    "Reply",
    "big_text",
    "drop_after",
    "error",
    "hold",
    "several",
    "stream_error",
    "text",
    "thinking",
    "tool_use",
]

TITLE = text('{"title": "A title"}')
SUMMARY = text("<analysis>Everything was read.</analysis>\n<summary>A conversation took place.</summary>")
BRIEF = text("ok")
EXPIRED = "OAuth token has expired. Please obtain a new token or refresh your existing token."


class MessagesAPI(Changes):
    """The fake service: `with MessagesAPI() as api:` or `async with`, then `api.url`, `api.script(...)`."""

    def __init__(self, port: int = 0) -> None:
        super().__init__()
        self._port = port
        self._log = Log(self.tell)
        self._lock = threading.Lock()
        self._script: deque[Scripted] = deque()
        self._default: Scripted | None = None
        self._api_key: str | None = None
        self._bearer: str | None = None
        self._app = MessagesApp(self._log, self._answer)
        self._server: QuickServer | None = None
        self._thread: threading.Thread | None = None
        self.url = ""

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request so far, in order of arrival."""
        return self._log.requests

    @property
    def conversation(self) -> list[RecordedRequest]:
        """The requests of the conversation itself, without the CLI's titles, probes and summaries."""
        return [request for request in self.requests if request.kind == "main"]

    @property
    def disconnects(self) -> int:
        """Return the number of clients that went away before their answer was complete."""
        return self._log.disconnects

    @property
    def remaining(self) -> int:
        """Return the number of scripted replies that were not used yet."""
        with self._lock:
            return len(self._script)

    def script(self, *replies: Scripted) -> None:
        """Queue replies for the conversation's requests, used in order; a callable gets the body of the request."""
        with self._lock:
            self._script.extend(replies)

    @contextmanager
    def lent(self, default: Scripted | None = None) -> Iterator[Self]:
        """Lend it to one test: replies that it scripts and leaves fail this test, instead of answering the next one."""
        self.default(default)
        yield self
        with self._lock:
            left, self._default = len(self._script), None
            self._script.clear()
        assert not left, f"{left} scripted replies were not asked for"

    def default(self, reply: Scripted | None) -> None:
        """Set what is answered when the queue is empty; None makes that an error 400 again."""
        with self._lock:
            self._default = reply

    def tell_window(self, tokens: int | None) -> None:
        """Tell how much text the model takes, as llama.cpp does."""
        self._app.window = tokens

    def require(self, *, api_key: str | None = None, bearer: str | None = None) -> None:
        """Refuse, with 401, requests that carry neither of these credentials; without arguments let everyone in."""
        with self._lock:
            self._api_key, self._bearer = api_key, bearer

    def environment(self, home: Path) -> dict[str, str]:
        """Build the environment in which the real CLI talks to this server and to nobody else."""
        return {
            "HOME": str(home),
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "placeholder",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    @property
    def credentials(self) -> dict[str, str]:
        """The environment of a computer whose model this is, with a key that looks like a real one."""
        return {"ANTHROPIC_API_KEY": "sk-ant-api03-real", "ANTHROPIC_BASE_URL": self.url}

    def wait(
        self,
        condition: Callable[[], Any],
        what: str,
        report: Callable[[], str] | None = None,
        *,
        seconds: float = DEADLINE,
    ) -> Any:
        """Block until a condition holds, which is tried at each request and disconnect."""
        return super().wait(condition, what, report or self._log.report, seconds=seconds)

    async def happens(self, condition: Callable[[], Any], what: str, report: Callable[[], str] | None = None) -> Any:
        """Wait as `wait` does, without blocking the event loop."""
        return await super().happens(condition, what, report or self._log.report)

    def start(self) -> Self:
        """Listen, on a free port unless one was named, and serve in a thread."""
        listener = socket.create_server(("127.0.0.1", self._port))
        # asyncio switches delays off only where the socket names its protocol, and this one does not: without
        # this, every stream of small events takes 40 ms longer. Accepted connections inherit the option.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            self._app,
            http=tracking_protocol(self._app.connections),
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
        )
        self._server = QuickServer(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="messages-api", daemon=True)
        self._thread.start()
        if not self._server.ready.wait(DEADLINE):
            raise TimeoutError("the fake Messages API did not start")
        return self

    def stop(self) -> None:
        """Cut every connection, end the thread and raise what went wrong in a reply."""
        if self._server is None or self._thread is None:
            return
        self._server.end()
        self._thread.join(DEADLINE)
        if self._thread.is_alive():
            raise TimeoutError("the fake Messages API did not stop")
        self._server = self._thread = None
        if self._app.failures:
            raise self._app.failures[0]

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    async def __aenter__(self) -> Self:
        """Start without blocking the event loop."""
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop without blocking the event loop."""
        await asyncio.to_thread(self.stop)

    def _answer(self, request: RecordedRequest) -> Scripted:
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        match request.kind:
            case "main":
                return self._next()
            case "title":
                return TITLE
            case "compaction":
                return SUMMARY
            case "other":
                if request.method == "POST" and request.path.startswith("/v1/messages"):
                    return error(400, "invalid_request_error", "The request body is not a JSON object.")
                return error(404, "not_found_error", f"There is no {request.method} {request.path}.")
            case _:
                return BRIEF

    def _refusal(self, request: RecordedRequest) -> ErrorReply | None:
        with self._lock:
            accepted = {("x-api-key", self._api_key), ("authorization", self._bearer and f"Bearer {self._bearer}")}
        accepted = {(name, value) for name, value in accepted if value}
        if not accepted or not request.path.startswith("/v1/"):
            return None
        if any(request.headers.get(name) == value for name, value in accepted):
            return None
        message = "Invalid bearer token" if "authorization" in request.headers else "invalid x-api-key"
        return error(401, "authentication_error", message)

    def _next(self) -> Scripted:
        with self._lock:
            chosen = self._script.popleft() if self._script else self._default
        if chosen is None:
            return error(400, "invalid_request_error", "The test scripted no reply for this request.")
        return chosen
