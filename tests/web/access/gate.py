"""The gate as the tests drive it: through ASGI with any peer, and through real sockets."""

import asyncio
import http.client
import json
import socket
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.types import Message, Receive, Scope, Send

from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.cli_token import CliToken
from parachute.security.keys.peers import Peer, Peers
from parachute.security.keys.service import Keys
from parachute.security.mcp_clients.service import McpClients
from parachute.web.access.access import AccessMiddleware

LOOPBACK = ("127.0.0.1", 50000)
REMOTE = ("192.168.1.77", 50000)
HERE = ("127.0.0.1", 3333)


async def who_called(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that answers with the caller that the gate found."""
    if scope["type"] != "http":
        return
    caller = scope["state"]["caller"]
    body = {
        "kind": caller.kind,
        "name": caller.name,
        "admin": caller.may("*", "admin"),
        "is_browser": caller.is_browser,
        "address": scope["state"]["client_address"],
    }
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


@dataclass
class Answer:
    """Status, headers and decoded JSON of a response."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    json: Any = None

    @property
    def detail(self) -> str:
        """The sentence of a refusal, which must be JSON with a string."""
        assert self.headers["content-type"] == "application/json"
        assert isinstance(self.json["detail"], str)
        return self.json["detail"]

    @property
    def hint(self) -> str:
        """Return the next step that a refusal names, which its sentence does not repeat."""
        hint = self.json["hint"]
        assert isinstance(hint, str)
        assert hint not in self.detail
        return hint


class UntoldPeers(Peers):
    """A system that cannot tell whose a connection is, as it is for connections that a test makes up."""

    async def is_own(self, client: Peer | None, server: Peer | None) -> None:
        """Nobody knows."""


class Gate:
    """The middleware before `who_called`: `app` for real connections, `call` for made up ones."""

    def __init__(
        self, keys: Keys, cli_token: CliToken, settings: dict[str, Any], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.keys = keys
        self.browsers = BrowserSessions(keys.store.path.parent, keys)
        self.cli_token = cli_token
        self.mcp_clients = McpClients(keys.store.path.parent)
        known: dict[str, Any] = {"keys": keys, "cli_token": cli_token, "browsers": self.browsers}
        known |= {"mcp_clients": self.mcp_clients, **settings}
        self.app = AccessMiddleware(who_called, **known)
        self._untold = AccessMiddleware(who_called, **{"peers": UntoldPeers(), **known})
        self._loop = loop

    def call(
        self,
        method: str = "GET",
        path: str = "/api/chat",
        headers: dict[str, str] | list[tuple[str, str]] | None = None,
        *,
        client: tuple[str, int] | None = LOOPBACK,
        server: tuple[str, int] | None = HERE,
        host: str | None = "localhost:3333",
        scheme: str = "http",
    ) -> Answer:
        """Send one request as if it came from this peer."""
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers or [])
        if host is not None:
            pairs.insert(0, ("host", host))
        scope: Scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
            "client": client,
            "server": server,
            "scheme": scheme,
        }
        return answer_of(self._loop.run_until_complete(drive(self._untold, scope)))


async def drive(app: Any, scope: Scope, messages: list[Message] | None = None) -> list[Message]:
    """Run an ASGI application on one scope and return what it sent."""
    sent: list[Message] = []
    waiting = list(messages or [{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Message:
        return waiting.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


def answer_of(sent: list[Message]) -> Answer:
    """The response that these ASGI messages make."""
    start, *rest = sent
    body = b"".join(message.get("body", b"") for message in rest)
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], headers, json.loads(body) if body else None)


class Server:
    """A real server on a free port of a loopback address."""

    def __init__(self, app: Any, host: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family)
        self.socket.bind((host, 0))
        self.host = host
        self.port: int = self.socket.getsockname()[1]
        self._server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="warning", proxy_headers=False))

    @property
    def is_started(self) -> bool:
        return self._server.started

    def run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self.socket]))

    def stop(self) -> None:
        self._server.should_exit = True

    def call(self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> Answer:
        """Send one request over a connection of its own."""
        connection = http.client.HTTPConnection(self.host, self.port)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            data = response.read()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, json.loads(data) if data else None)
        finally:
            connection.close()
