"""An ASGI application on many Unix sockets, each with a state of its own, without a server for each."""

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Any

import uvicorn
from msgspec import Struct, field
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from parachute.base.budget import Limits
from parachute.web.http.http_connection import ConnectionLimiter, HttpConnection

# The loop accepts as many before it gives any of them to a protocol, and closes those that are too many some rounds later.
_ACCEPTED_AT_ONCE = 16
_WAITING = 128


class UnixListener(Struct):
    """One open socket; `close` and `break_off` end its connections and running requests too."""

    path: Path
    server: asyncio.Server
    state: ServerState = field(default_factory=ServerState)

    def close(self) -> None:
        """Stop answering, at once."""
        self._stop_listening()
        for connection in list(self.state.connections):
            connection.shutdown()
        for task in list(self.state.tasks):
            task.cancel()

    async def break_off(self, seconds: float) -> None:
        """Stop answering; requests that run learn of it as of a caller who has left, and have so long to end."""
        # At once, without a thread: a new socket with the same path must not meet the remains of this one.
        self._stop_listening()
        for connection in list(self.state.connections):
            connection.transport.abort()
        if tasks := list(self.state.tasks):
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()

    def _stop_listening(self) -> None:
        self.server.close()
        with contextlib.suppress(OSError):  # what a read-only disk keeps is removed when the next one is opened
            self.path.unlink(missing_ok=True)


class UnixServer:
    """A server of many sockets on which `app` answers; what is given to `open` arrives in `scope["state"]`.

    `limits` are for whoever is behind one socket, and for all of them together.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.limiter = ConnectionLimiter(limits)
        self._config = uvicorn.Config(
            app,
            lifespan="off",
            access_log=False,
            log_config=None,
            ws="none",
            proxy_headers=False,
            server_header=False,
            date_header=False,
        )
        self._config.load()

    async def open(self, path: Path, mode: int, **state: Any) -> UnixListener:
        """Listen on `path`; the folder that holds it decides who gets near it."""
        path.unlink(missing_ok=True)
        connections = ServerState()

        def protocol() -> asyncio.Protocol:
            return HttpConnection(
                self.limiter, str(path), config=self._config, server_state=connections, app_state=state
            )

        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(path))
            path.chmod(mode)
            server = await asyncio.get_running_loop().create_unix_server(
                protocol, sock=listener, backlog=_ACCEPTED_AT_ONCE
            )
        except BaseException:
            listener.close()
            raise
        # The loop took its own, smaller number for the length of the kernel's queue, in which the others shall wait.
        listener.listen(_WAITING)
        return UnixListener(path, server, connections)
