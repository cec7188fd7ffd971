"""An ASGI application on many Unix sockets, each with a state of its own, without a server for each."""

import asyncio
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

# The loop accepts as many before it gives any of them to a protocol, and closes those that are too many some rounds later.
_ACCEPTED_AT_ONCE = 16
_WAITING = 128


@dataclass(slots=True)
class UnixListener:
    """One open socket; `close` ends its connections and running requests too."""

    path: Path
    server: asyncio.Server
    state: ServerState = field(default_factory=ServerState)

    def close(self) -> None:
        """Stop answering, at once."""
        self.server.close()
        for connection in list(self.state.connections):
            connection.shutdown()
        for task in list(self.state.tasks):
            task.cancel()
        self.path.unlink(missing_ok=True)


class _Turned(asyncio.Protocol):
    """Ends a connection that is one too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


class UnixServer:
    """Opens sockets on which `app` answers; what is given to `open` arrives in `scope["state"]`.

    A socket has at most `connections` at a time: whoever is behind it must not use up all descriptors of this process.
    """

    def __init__(self, app: ASGIApp, connections: int = 128) -> None:
        self._connections = connections
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
        config = self._config

        def protocol() -> asyncio.Protocol:
            if len(connections.connections) >= self._connections:
                return _Turned()
            return config.http_protocol_class(config=config, server_state=connections, app_state=state)  # type: ignore[call-arg]

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
