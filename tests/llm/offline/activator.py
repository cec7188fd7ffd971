"""Holds the socket and starts the offline model on demand, as a supervisor does; and a client for it."""

import http.client
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.support.activation import DEADLINE, Activator, UnixConnection

MISSING_MODEL = "/nonexistent/model.gguf"


@dataclass(frozen=True)
class Answer:
    """A whole response."""

    status: int
    headers: dict[str, str]
    document: dict[str, Any]


@dataclass(frozen=True)
class Event:
    """One server-sent event with both of its lines."""

    name: str
    data: dict[str, Any]


@dataclass
class Stream:
    """A streamed response, read as far as the test wants."""

    connection: http.client.HTTPConnection
    response: http.client.HTTPResponse

    def events(self) -> Iterator[Event]:
        """Every event, checked to consist of exactly the two lines that Anthropic sends."""
        while line := self.response.readline():
            name = line.decode()
            data = self.response.readline().decode()
            assert name.startswith("event: ")
            assert data.startswith("data: ")
            assert self.response.readline() == b"\n"
            yield Event(name.removeprefix("event: ").strip(), json.loads(data.removeprefix("data: ")))

    def close(self) -> None:
        """Go away, whatever is still to come."""
        # Both: the response keeps a file of its own on the socket.
        self.response.close()
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OfflineModel(Activator):
    """The process of the offline model, and a client for it."""

    def close(self) -> None:
        """End the process and remove everything."""
        ended = self.end()
        shutil.rmtree(self.folder)
        assert ended, "the offline model does not end"

    def request(self, method: str, path: str, body: bytes | None = None, timeout: float = DEADLINE) -> Answer:
        """One request with a JSON response."""
        connection = UnixConnection(self.path, timeout)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, headers, json.loads(response.read()))
        finally:
            connection.close()

    def post(self, document: dict[str, Any], path: str = "/v1/messages?beta=true") -> Answer:
        """Ask without streaming."""
        return self.request("POST", path, json.dumps(document).encode())

    def stream(self, document: dict[str, Any]) -> Stream:
        """Ask with streaming; the caller closes it."""
        connection = UnixConnection(self.path)
        connection.request("POST", "/v1/messages?beta=true", json.dumps({**document, "stream": True}).encode())
        return Stream(connection, connection.getresponse())

    def health(self) -> dict[str, Any]:
        """Return the process's own report."""
        return self.request("GET", "/health").document


@contextmanager
def activated(**environment: str) -> Iterator[OfflineModel]:
    """An activator for the length of a block; the variables get the prefix PARACHUTE_OFFLINE_."""
    variables = {f"PARACHUTE_OFFLINE_{name.upper()}": value for name, value in environment.items()}
    model = OfflineModel(folder=Path(tempfile.mkdtemp(prefix="offline-", dir="/tmp")), environment=variables)
    model.listen(model.folder / "model.sock", "parachute.llm.offline")
    try:
        yield model
    finally:
        model.close()


def question(text: str, **fields: Any) -> dict[str, Any]:
    """The smallest request."""
    return {"model": "claude-test", "max_tokens": 1024, "messages": [{"role": "user", "content": text}], **fields}
