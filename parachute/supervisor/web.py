"""`/supervisor/*` on a port of its own, for an app that looks for it beside the main port and for times when core is down.

Loopback only. Programs of the owner need no key, as the app has none here; others need one, for control with admin rights.
"""

import asyncio
import contextlib
import json
from typing import Any

import h11

from parachute.base import local_http
from parachute.base.budget import SUPERVISOR, SUPERVISOR_BODY_BYTES, SUPERVISOR_SECONDS, Budget, Limits
from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.security.keys.models import Capability, allows
from parachute.security.keys.peers import Peers
from parachute.security.keys.service import Keys
from parachute.supervisor.service import Supervisor

_ANSWER_BYTES = 1024 * 1024
_OF_BROWSERS = frozenset(("origin", "referer", "cookie", "sec-fetch-site", "sec-fetch-mode"))


class SupervisorWeb:
    """A very small HTTP server: one request a connection, a fixed table of routes."""

    def __init__(self, home: Home, supervisor: Supervisor, limits: Limits = SUPERVISOR) -> None:
        self._keys = Keys(home.root)
        self._peers = Peers()
        self._budget = Budget(limits)
        self._supervisor = supervisor
        self._hosts: frozenset[str] = frozenset()

    async def serve(self, port: int) -> asyncio.Server:
        """Listen on a port of 127.0.0.1, 0 for any that is free; error: OSError if it is taken."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", port, start_serving=False)
        port = server.sockets[0].getsockname()[1]
        self._hosts = frozenset(f"{name}:{port}" for name in ("localhost", "127.0.0.1", "[::1]"))
        await server.start_serving()
        return server

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Whatever ends this, also a stop of the supervisor: asyncio closes no connection by itself.
        with contextlib.closing(writer):
            is_own = None
            if self._budget.has_room(trusted=True):
                is_own = await self._peers.is_own(writer.get_extra_info("peername"), writer.get_extra_info("sockname"))
            if not self._budget.connect(is_own, trusted=is_own is True):
                return
            try:
                await self._serve(reader, writer, is_own)
            finally:
                self._budget.disconnect(is_own)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_own: bool | None) -> None:
        connection = h11.Connection(h11.SERVER)
        try:
            async with asyncio.timeout(SUPERVISOR_SECONDS):
                request = await self._receive(connection, reader)
            status, answer = await self._answer(request, is_own)
        except h11.RemoteProtocolError as error:
            status, answer = error.error_status_hint, {"detail": f"The request cannot be read: {error}."}
        except (TimeoutError, ConnectionError):
            return
        body = json.dumps(answer).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        try:
            writer.write(connection.send(h11.Response(status_code=status, headers=headers)) or b"")
            writer.write(connection.send(h11.Data(data=body)) or b"")
            await writer.drain()
        except (h11.LocalProtocolError, ConnectionError):
            pass  # the request was so broken that no answer is possible, or the caller left

    async def _receive(self, connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Request:
        request: h11.Request | None = None
        size = 0
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(16384))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                size += len(event.data)
                if size > SUPERVISOR_BODY_BYTES:
                    raise h11.RemoteProtocolError("the body is too long", error_status_hint=413)
            elif request is not None and isinstance(event, h11.EndOfMessage):
                return request
            else:
                raise ConnectionError("the caller left")

    async def _answer(self, request: h11.Request, is_own: bool | None) -> tuple[int, dict[str, Any]]:
        try:
            return await self._route(request, is_own)
        except ParachuteError as error:
            return error.status, error.as_json()
        except (OSError, ValueError) as error:
            return 502, {"detail": f"The main server does not answer: {error}."}

    async def _route(self, request: h11.Request, is_own: bool | None) -> tuple[int, dict[str, Any]]:
        headers = {name.decode().lower(): value.decode(errors="replace") for name, value in request.headers}
        if headers.get("host", "").lower() not in self._hosts:
            return 403, {"detail": "This address answers only under localhost."}
        if "origin" in headers or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, {"detail": "Web pages may not call the supervisor."}
        path = request.target.decode(errors="replace").partition("?")[0]
        method = request.method.decode()
        capability: Capability = "read" if method == "GET" else "admin"
        module = "chat" if path == "/supervisor/models" else "supervisor"
        if not self._may(module, capability, headers, is_own):
            return 401, {
                "detail": f"This needs a key with {module}:{capability}, or a program of the computer's owner."
            }
        if path == "/supervisor/status" and method == "GET":
            return 200, self._supervisor.summary()
        if path == "/supervisor/models" and method == "GET":
            return await self._models(request.target, headers)
        operation = path.removeprefix("/supervisor/server/")
        if operation == path or operation not in ("start", "stop", "restart"):
            return 404, {"detail": f"There is no {path}."}
        if method != "POST":
            return 405, {"detail": f"{path} takes POST."}
        await self._supervisor.handle({"operation": operation})
        return 200, {"status": "ok"}

    def _may(self, module: str, capability: Capability, headers: dict[str, str], is_own: bool | None) -> bool:
        presented = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not presented:
            # Where the system cannot tell whose program this is, it may look and not change anything.
            return is_own is not False if capability == "read" else is_own is True and not _is_browser(headers)
        try:
            key = self._keys.authenticate(presented)
        except ParachuteError:
            return False
        return key is not None and allows(key.scopes, module, capability)

    async def _models(self, target: bytes, received: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Core knows the models: ask it, on the main port."""
        status = self._supervisor.summary()
        if not status["main_server_healthy"]:
            return 503, {"detail": "The main server is stopped."}
        host, port = status["main_server_host"], status["main_server_port"]
        if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
            host = "127.0.0.1"
        headers = [(b"host", (f"[{host}]:{port}" if ":" in host else f"{host}:{port}").encode())]
        passed = ((name, received.get(name)) for name in ("authorization", "x-api-key"))
        headers += [(name.encode(), value.encode("ascii")) for name, value in passed if value is not None]
        async with (
            asyncio.timeout(SUPERVISOR_SECONDS),
            local_http.request((host, port), "GET", target, headers) as response,
        ):
            return response.status, json.loads(await response.read(_ANSWER_BYTES) or b"{}")


def _is_browser(headers: dict[str, str]) -> bool:
    return not _OF_BROWSERS.isdisjoint(headers) or headers.get("user-agent", "").startswith("Mozilla/")
