"""A client that costs little: it runs on the same two cores as what it measures."""

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from types import TracebackType
from typing import Any, Self

from tests.support.sse import TERMINAL


class Connection:
    """One connection to a computer, kept open between requests."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def get(self, path: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
        """The body of an answer; error: AssertionError if its status is another one."""
        return self._request("GET", path, status, headers)

    def post(self, path: str) -> bytes:
        """The body of the answer to a request without a body."""
        return self._request("POST", path, 200, None)

    def etag(self, path: str) -> str:
        """The ETag of a resource."""
        self._connection.request("GET", path)
        response = self._connection.getresponse()
        response.read()
        return str(response.headers["etag"])

    def newest_session(self) -> str:
        """The id of the newest session."""
        return str(json.loads(self.get("/api/chat?limit=1"))["sessions"][0]["id"])

    def status(self) -> dict[str, Any]:
        """What `parachute status` shows of core."""
        found: dict[str, Any] = json.loads(self.get("/api/status"))
        return found

    def chat(self, message: str, session: str = "new", **fields: Any) -> Iterator[dict[str, Any]]:
        """Send a message and yield its events as they arrive, to the terminal one; `fields`: more members of the body."""
        body = json.dumps({"message": message, "sessionId": session, "module": "chat", **fields}).encode()
        self._connection.request("POST", "/api/chat", body, {"content-type": "application/json"})
        response = self._connection.getresponse()
        assert response.status == 200, response.read()[:500]
        while line := response.readline():
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                yield event
                if event["type"] in TERMINAL:
                    response.read()
                    return

    def ask(self, message: str, session: str = "new", **fields: Any) -> dict[str, Any]:
        """Send a message, read its answer and return the `done` event; error: AssertionError on any other end."""
        *_, last = self.chat(message, session, **fields)
        assert last["type"] == "done", last
        return last

    def _request(self, method: str, path: str, status: int, headers: Mapping[str, str] | None) -> bytes:
        self._connection.request(method, path, headers=dict(headers or {}))
        response = self._connection.getresponse()
        body = response.read()
        assert response.status == status, (method, path, response.status, body[:500])
        return body
