"""A client that costs little: it runs on the same two cores as what it measures."""

import json
import time
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPResponse
from types import TracebackType
from typing import Any, Self

from tests.support.sse import TERMINAL

_KEPT_SECONDS = 2.0


class Connection:
    """One connection to a computer, kept open between requests."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._last_used = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def get(self, path: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
        """The body of an answer; error: AssertionError if its status is another one."""
        return self._request("GET", path, status, headers)

    def post(self, path: str, *, headers: Mapping[str, str] | None = None) -> bytes:
        """The body of the answer to a request without a body."""
        return self._request("POST", path, 200, headers)

    def send(self, path: str, document: Mapping[str, Any]) -> Any:
        """The JSON of the answer to a POST with a JSON body."""
        response = self._send("POST", path, json.dumps(document).encode(), {"content-type": "application/json"})
        body = response.read()
        assert response.status in (200, 201), (path, response.status, body[:500])
        return json.loads(body)

    def etag(self, path: str) -> str:
        """The ETag of a resource."""
        response = self._send("GET", path)
        response.read()
        return str(response.headers["etag"])

    def newest_session(self) -> str:
        """The id of the newest session."""
        return str(json.loads(self.get("/api/chat?limit=1"))["sessions"][0]["id"])

    def status(self) -> dict[str, Any]:
        """The status of core, as `parachute status` shows it."""
        found: dict[str, Any] = json.loads(self.get("/api/status"))
        return found

    def chat(self, message: str, session: str = "new", **fields: Any) -> Iterator[dict[str, Any]]:
        """Send a message and yield its events as they arrive, to the terminal one; `fields`: more members of the body."""
        body = json.dumps({"message": message, "sessionId": session, "module": "chat", **fields}).encode()
        response = self._send("POST", "/api/chat", body, {"content-type": "application/json"})
        assert response.status == 200, response.read()[:500]
        while line := response.readline():
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                yield event
                if event["type"] in TERMINAL:
                    response.read()
                    self._last_used = time.monotonic()
                    return

    def ask(self, message: str, session: str = "new", **fields: Any) -> dict[str, Any]:
        """Send a message, read its answer and return the `done` event; error: AssertionError on any other end."""
        *_, last = self.chat(message, session, **fields)
        assert last["type"] == "done", last
        return last

    def _request(self, method: str, path: str, status: int, headers: Mapping[str, str] | None) -> bytes:
        response = self._send(method, path, headers=headers)
        body = response.read()
        assert response.status == status, (method, path, response.status, body[:500])
        return body

    def _send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> HTTPResponse:
        # The server closes a connection that was silent for five seconds; the next request opens a new one.
        if time.monotonic() - self._last_used > _KEPT_SECONDS:
            self._connection.close()
        self._last_used = time.monotonic()
        self._connection.request(method, path, body, dict(headers or {}))
        return self._connection.getresponse()
