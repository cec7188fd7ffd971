"""Largest size of a request."""

import asyncio
import socket
from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI, Request
from pydantic import BaseModel
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from parachute.web.http.body_limit import DEFAULT_LIMIT, LARGEST_KEPT, BodyLimitMiddleware
from parachute.web.http.errors import install_error_handlers
from tests.support.errors import raises

from .gate import Server, answer_of, drive

pytestmark = pytest.mark.process

CHUNKED = [(b"transfer-encoding", b"chunked")]


class Note(BaseModel):
    text: str


def application() -> FastAPI:
    app = FastAPI()
    install_error_handlers(app)

    @app.post("/note")
    async def note(body: Note) -> int:
        return len(body.text)

    @app.post("/raw")
    @app.post("/api/import")
    @app.post("/api/imported")
    async def raw(request: Request) -> int:
        return sum([len(part) async for part in request.stream()])

    return app


@pytest.fixture
def client() -> TestClient:
    return TestClient(BodyLimitMiddleware(application(), limit=100, limits={"/api/import": 1000, "/api": 200}))


def parts(size: int) -> Iterator[bytes]:
    """A body that announces no length."""
    for _ in range(size // 10):
        yield b"x" * 10


@pytest.mark.parametrize("path", ["/raw", "/note", "/nowhere"])
def test_an_announced_body_over_the_limit_is_refused(client: TestClient, path: str) -> None:
    response = client.post(path, content=b"x" * 101, headers={"content-type": "application/json"})
    assert response.status_code == 413
    assert response.headers["content-type"] == "application/json"
    assert "100 bytes" in response.json()["detail"]


@pytest.mark.parametrize("path", ["/raw", "/note"])
def test_a_body_that_grows_over_the_limit_is_refused(client: TestClient, path: str) -> None:
    response = client.post(path, content=parts(110), headers={"content-type": "application/json"})
    assert response.status_code == 413
    assert "100 bytes" in response.json()["detail"]


def test_a_body_at_the_limit_is_fine(client: TestClient) -> None:
    assert client.post("/raw", content=b"x" * 100).json() == 100
    assert client.post("/raw", content=parts(100)).json() == 100
    assert client.post("/note", json={"text": "hello"}).json() == 5


def test_the_longest_prefix_decides(client: TestClient) -> None:
    assert client.post("/api/import", content=parts(1000)).json() == 1000
    assert client.post("/api/import", content=parts(1010)).status_code == 413
    assert client.post("/api/imported", content=parts(200)).json() == 200
    assert client.post("/api/imported", content=parts(210)).status_code == 413


def test_a_false_length_does_not_help() -> None:
    scope = {"type": "http", "method": "POST", "path": "/raw", "headers": [(b"content-length", b"5")]}
    messages: list[Message] = [{"type": "http.request", "body": b"x" * 60, "more_body": True} for _ in range(2)]

    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    assert answer_of(asyncio.run(drive(BodyLimitMiddleware(read, limit=100), scope, messages))).status == 413


def test_nothing_is_kept_of_a_body_that_is_not_read() -> None:
    """A body over the limit is refused at the first part that goes over it, without asking for the rest."""
    scope = {"type": "http", "method": "POST", "path": "/", "headers": CHUNKED}
    messages: list[Message] = [{"type": "http.request", "body": b"x" * 60, "more_body": True} for _ in range(10)]
    left = list(messages)

    async def receive() -> Message:
        return left.pop(0)

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        while True:
            await receive()

    asyncio.run(BodyLimitMiddleware(read, limit=100)(scope, receive, send))
    assert answer_of(sent).status == 413
    assert len(left) == 8


def test_an_answer_that_has_begun_is_not_replaced() -> None:
    scope = {"type": "http", "method": "POST", "path": "/", "headers": CHUNKED}
    limit = LARGEST_KEPT + 1
    messages: list[Message] = [{"type": "http.request", "body": bytes(limit + 1), "more_body": False}]

    async def eager(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await receive()

    with raises("body_too_large", names=f"{limit:,} bytes"):
        asyncio.run(drive(BodyLimitMiddleware(eager, limit=limit), scope, messages))


def test_fifty_megabytes_are_refused_before_they_are_sent(serve: Callable[..., Server]) -> None:
    server = serve(BodyLimitMiddleware(application()))
    with socket.create_connection((server.host, server.port)) as connection:
        length = 50 * 1024 * 1024
        assert length > DEFAULT_LIMIT
        connection.sendall(f"POST /raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")
