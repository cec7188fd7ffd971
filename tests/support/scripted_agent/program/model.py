"""The request to the model: HTTP on a Unix socket, with the answer as a stream of events."""

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from typing import Any

_HEADERS = {
    "accept": "application/json",
    "anthropic-version": "2023-06-01",
    "connection": "close",
    "content-type": "application/json",
    "user-agent": "claude-cli/2.1.330 (external, sdk-py, agent-sdk/0.2.187)",
    "x-app": "cli",
}


class Refused(Exception):
    """The model answered with an error instead of a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Model:
    """One request at a time, which another thread may cut."""

    def __init__(self) -> None:
        self._connection: socket.socket | None = None
        self._cut = False

    def cut(self) -> None:
        """End the request that runs."""
        self._cut = True
        if (connection := self._connection) is not None:
            with contextlib.suppress(OSError):  # it has ended by itself
                connection.shutdown(socket.SHUT_RDWR)

    def allow(self) -> None:
        """Allow requests again."""
        self._cut = False

    def events(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the events of an answer; it ends early when it is cut; errors: Refused, OSError."""
        with socket.socket(socket.AF_UNIX) as connection:
            self._connection = connection
            try:
                connection.connect(os.environ["ANTHROPIC_UNIX_SOCKET"])
                if not self._cut:
                    yield from self._exchange(connection, body)
            except OSError:
                if not self._cut:
                    raise
            finally:
                self._connection = None

    def _exchange(self, connection: socket.socket, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        content = json.dumps(body).encode()
        host = os.environ["ANTHROPIC_BASE_URL"].partition("://")[2]
        headers = {**_HEADERS, **_credentials(), "host": host, "content-length": str(len(content))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        connection.sendall(f"POST /v1/messages?beta=true HTTP/1.1\r\n{lines}\r\n".encode() + content)
        answer = connection.makefile("rb")
        status = int((answer.readline().split() or [b"", b"0"])[1])
        told: dict[str, str] = {}
        while line := answer.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            told[name.lower()] = value.strip()
        parts = _chunks(answer) if told.get("transfer-encoding") == "chunked" else iter(answer.read1, b"")
        if status != 200:
            if self._cut:
                return
            error = json.loads(b"".join(parts) or b"{}").get("error", {})
            raise Refused(status, error.get("message", ""))
        yield from _events(parts)


def _credentials() -> dict[str, str]:
    if token := os.environ.get("CLAUDE_CODE_OAUTH_TOKEN"):
        return {"authorization": f"Bearer {token}"}
    return {"x-api-key": os.environ.get("ANTHROPIC_API_KEY", "")}


def _chunks(answer: Any) -> Iterator[bytes]:
    while size := int(answer.readline().strip() or b"0", 16):
        yield answer.read(size)
        answer.readline()


def _events(parts: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    rest = b""
    for part in parts:
        *blocks, rest = (rest + part).split(b"\n\n")
        for block in blocks:
            for line in block.split(b"\n"):
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])
