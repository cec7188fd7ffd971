"""Uvicorn with the limits, the TLS and the end that this server needs."""

import contextlib
import functools
import socket
import ssl
from collections.abc import Callable, Iterator

import uvicorn
from fastapi import FastAPI

from parachute.base.budget import PUBLIC
from parachute.base.services import ServiceRegistry
from parachute.chat.runs.service import Runs
from parachute.modules.registry.reconcile_worker import ReconcileWorker
from parachute.supervisor.notify import notify
from parachute.web.http.http_connection import ConnectionLimiter, HttpConnection
from parachute.web.tls.service import Tls

_GRACEFUL_SECONDS = 5

_ACCEPTED_AT_ONCE = 16
"""The loop accepts as many before it gives any of them to a protocol, and closes those that are too many some rounds later."""

_WAITING = 128


class HttpServer(uvicorn.Server):
    """Uvicorn that notifies when it is ready, and ends the runs before it waits for the streams that follow them."""

    def __init__(self, app: FastAPI) -> None:
        self.services: ServiceRegistry = app.state.services
        super().__init__(
            uvicorn.Config(
                app,
                access_log=False,
                log_config=None,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                ws="none",
                http=functools.partial(HttpConnection, ConnectionLimiter(PUBLIC), tls=_tls_of(self.services)),  # type: ignore[arg-type]
                backlog=_ACCEPTED_AT_ONCE,
                timeout_graceful_shutdown=_GRACEFUL_SECONDS,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever serves: Uvicorn would end us by the same signal again, and a graceful end has status 0."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer, and say so."""
        await super().startup(sockets)
        for listener in sockets or ():
            # The loop took its own, smaller number for the length of the kernel's queue, in which the others shall wait.
            listener.listen(_WAITING)
        if self.started:
            notify("READY=1")
            self.services.get(ReconcileWorker).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End runs, then streams, then services."""
        notify("STOPPING=1")
        if runs := self.services.find(Runs):
            await runs.close()
        await super().shutdown(sockets)


def _tls_of(services: ServiceRegistry) -> Callable[[], ssl.SSLContext | None]:
    def context() -> ssl.SSLContext | None:
        tls = services.find(Tls)
        return tls.context if tls is not None else None

    return context
