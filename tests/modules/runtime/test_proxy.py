"""The proxy between clients and modules: headers and bodies that pass, and those that do not."""

import json
import socket
import threading
from collections.abc import Iterator

import httpx2
import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.installation import PLAIN

pytestmark = pytest.mark.long

ECHO = '''
@route("GET", "/echo/{rest:path}")
@route("POST", "/echo/{rest:path}")
async def echo(self, request: Request, rest: str):
    return {
        "path": request.path,
        "rest": rest,
        "query": request.query_string,
        "headers": dict(request.headers),
        "caller": [request.caller.kind, request.caller.name],
    }

@route("GET", "/marks")
async def marks(self):
    return Response(b"<script>alert(1)</script>", media_type="text/html", headers={
        "set-cookie": "a=b", "access-control-allow-origin": "*", "access-control-allow-credentials": "true",
        "content-security-policy": "default-src *", "x-content-type-options": "yes", "clear-site-data": "*",
        "location": "https://example.org/", "strict-transport-security": "max-age=1", "etag": '"1"',
        "service-worker-allowed": "/", "content-disposition": "inline", "refresh": "0; url=/",
    })

@route("GET", "/nothing")
async def nothing(self):
    return None

@route("GET", "/same")
async def same(self):
    return Response(b"", status=304, headers={"etag": '"7"'})

@route("POST", "/upload")
async def upload(self, request: Request):
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
    return {"size": size}

@route("GET", "/steps")
async def steps(self):
    """Each next value only when somebody has asked for it."""
    self.allowed = asyncio.Semaphore(0)
    for number in range(3):
        yield {"number": number}
        await self.allowed.acquire()

@route("POST", "/step")
async def step(self):
    self.allowed.release()

@route("GET", "/forever")
async def forever(self):
    try:
        while True:
            yield {"still": "here"}
            await asyncio.sleep(0.01)
    finally:
        await self.core.storage.set("ended", True)

@route("GET", "/ended")
async def ended(self):
    return {"ended": await self.core.storage.get("ended", False)}
'''


@pytest.fixture(scope="module")
def echo(server: ModuleServer) -> ModuleServer:
    """A server with the module `echo`."""
    server.install("echo", ECHO, top="import asyncio")
    return server


def raw(server: ModuleServer, head: bytes) -> tuple[int, bytes]:
    """Send the head of a request as it is; (status, everything that came)."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head + b"\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    return int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize(
    ("target", "path", "rest", "query"),
    [
        ("a%2Fb/c", "/echo/a%2Fb/c", "a/b/c", ""),
        ("%E2%82%AC%20x", "/echo/%E2%82%AC%20x", "€ x", ""),
        ("a+b;c=d,e@:!$&'()*", "/echo/a+b;c=d,e@:!$&'()*", "a+b;c=d,e@:!$&'()*", ""),
        ("a%252e%252e", "/echo/a%252e%252e", "a%2e%2e", ""),
        ("x?a=%26&b=&c&a=+%2B?/&=%3D", "/echo/x", "x", "a=%26&b=&c&a=+%2B?/&=%3D"),
        ("x??", "/echo/x", "x", "?"),
    ],
)
def test_paths_and_queries_arrive_as_they_were_sent(
    echo: ModuleServer, target: str, path: str, rest: str, query: str
) -> None:
    status, body = raw(echo, f"GET /api/echo/echo/{target} HTTP/1.1".encode())
    seen = json.loads(body)
    assert (status, seen["path"], seen["rest"], seen["query"]) == (200, path, rest, query)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /api/echo/echo/\xe2\x82\xac HTTP/1.1",
        b"GET /api/echo/echo/x?\xff HTTP/1.1",
        b"GET /api/echo/echo/x HTTP/1.1\r\naccept: a\x7fb",
        b"GET /api/echo/echo/x HTTP/1.1\r\nuser-agent: a\x01b",
        b"GET /api/echo/echo/../../modules HTTP/1.1",
        b"GET /api/echo/echo/%2e%2e/x HTTP/1.1",
        b"GET /api/echo/echo\\x HTTP/1.1",
    ],
)
def test_what_http_cannot_say_is_the_clients_mistake(echo: ModuleServer, head: bytes) -> None:
    status, body = raw(echo, head)
    assert status == 400, body


def test_nothing_secret_reaches_a_module_and_who_asks_is_cores_word(echo: ModuleServer) -> None:
    _, secret = Keys(echo.home.root).create("phone", [Scope.parse("echo:read")])
    headers = {
        "authorization": f"Bearer {secret}",
        "cookie": "session=1",
        "x-parachute-caller": '{"kind": "module", "name": "daily"}',
        "x-anything": "1",
        "proxy-authorization": "Basic eDp5",
        "accept-language": "de",
        "if-none-match": '"3"',
    }
    seen = echo.get("/api/echo/echo/x", headers=headers).json()
    assert seen["caller"] == ["key", "phone"]
    assert seen["headers"]["accept-language"] == "de"
    assert seen["headers"]["if-none-match"] == '"3"'
    assert not {"authorization", "cookie", "proxy-authorization"} & seen["headers"].keys()
    assert not [name for name in seen["headers"] if name.startswith("x-")]
    assert secret not in json.dumps(seen)


def test_an_answer_cannot_act_in_the_name_of_the_computer(echo: ModuleServer) -> None:
    answer = echo.get("/api/echo/marks")
    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == "sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["etag"] == '"1"'
    refused = {"set-cookie", "location", "clear-site-data", "strict-transport-security", "refresh"}
    assert not refused & set(answer.headers)
    assert not [name for name in answer.headers if name.startswith(("access-control", "service-worker"))]


def test_answers_without_a_body(echo: ModuleServer) -> None:
    head = echo.ask("HEAD", "/api/echo/marks")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "25")
    nothing = echo.get("/api/echo/nothing")
    assert (nothing.status_code, nothing.content) == (204, b"")
    same = echo.get("/api/echo/same")
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", '"7"')


@pytest.mark.parametrize("size", [0, 1, 5_000_000])
def test_uploads_are_passed_on_in_pieces(echo: ModuleServer, size: int) -> None:
    def pieces() -> Iterator[bytes]:
        for start in range(0, size, 50_000):
            yield b"x" * min(50_000, size - start)

    assert echo.post("/api/echo/upload", content=b"x" * size).json() == {"size": size}
    assert echo.post("/api/echo/upload", content=pieces()).json() == {"size": size}


def test_events_arrive_one_by_one(echo: ModuleServer) -> None:
    seen = []
    with httpx2.stream("GET", f"{echo.url}/api/echo/steps", **PLAIN, timeout=60) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("data: "):
                seen.append(json.loads(line.removeprefix("data: ")))
                # The next one is made only now: had this one been kept back, nobody would be here to ask for it.
                assert echo.post("/api/echo/step").status_code == 204
    assert seen == [{"number": number} for number in range(3)]


def test_a_client_that_leaves_ends_what_is_done_for_it(echo: ModuleServer) -> None:
    with httpx2.stream("GET", f"{echo.url}/api/echo/forever", **PLAIN, timeout=60) as answer:
        lines = answer.iter_lines()  # httpx closes the answer with it
        assert next(lines).startswith("data: ")
        assert echo.value("/api/echo/ended") == {"ended": False}
    echo.eventually("/api/echo/ended", lambda value: value["ended"], "the generator is closed")


@pytest.mark.parametrize(
    "path",
    [
        "/_parachute/describe",
        "/_parachute",
        "/_parachute/tool",
        "/%5fparachute/describe",
        "/_%70arachute/describe",
        "//_parachute/describe",
        "/_parachute%2Fdescribe",
        "/_PARACHUTE/describe",
        "/x%00/_parachute/describe",
        "/;/_parachute/describe",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_belongs_to_core_is_out_of_reach(echo: ModuleServer, path: str, method: str) -> None:
    status, body = raw(echo, f"{method} /api/echo{path} HTTP/1.1".encode())
    assert status in (400, 404), body
    assert b"mcp_tools" not in body
    status, _ = raw(echo, f"{method} http://127.0.0.1/api/echo{path} HTTP/1.1".encode())
    assert status in (400, 404)
    status, _ = raw(echo, f"{method} /api/%65cho{path} HTTP/1.1".encode())
    assert status in (400, 404)


def test_a_slow_answer_holds_up_nobody_else(echo: ModuleServer) -> None:
    streams = [httpx2.Client(**PLAIN, timeout=60) for _ in range(20)]
    started = threading.Barrier(len(streams) + 1, timeout=60)
    leave = threading.Event()

    def read(client: httpx2.Client) -> None:
        with client, client.stream("GET", f"{echo.url}/api/echo/forever") as answer:
            lines = answer.iter_lines()
            next(lines)
            started.wait()
            leave.wait(60)

    threads = [threading.Thread(target=read, args=(client,)) for client in streams]
    for thread in threads:
        thread.start()
    started.wait()
    assert echo.get("/api/echo/nothing").status_code == 204
    assert echo.get("/api/health").status_code == 200
    leave.set()
    for thread in threads:
        thread.join(60)
