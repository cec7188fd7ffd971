"""The server while its vault is not there: every request is refused, and nothing is made in its place."""

import asyncio
import contextlib
import functools
import os
import signal
import socket

import uvicorn
from starlette.types import Receive, Scope, Send

from parachute.base.budget import PUBLIC
from parachute.base.errors import Unavailable
from parachute.config.settings.home import Home
from parachute.config.vault.place import VaultMissing, VaultPlace
from parachute.supervisor import control
from parachute.supervisor.notify import feed_watchdog, notify
from parachute.web.http.http_connection import ConnectionLimiter, HttpConnection
from parachute.web.http.refusals import refuse

_SECONDS = 1.0


async def wait_for_vault(place: VaultPlace, sockets: list[socket.socket]) -> bool:
    """Answer on the sockets until the vault is there; False if a signal ends the server before."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    watchdog = asyncio.create_task(feed_watchdog())
    server = _server()
    # Of its own, since it closes them.
    serving = asyncio.create_task(server.serve([each.dup() for each in sockets]))
    notify("READY=1")
    while not ended.is_set() and await asyncio.to_thread(place.is_missing):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS):
                await ended.wait()
    server.should_exit = True
    await serving
    watchdog.cancel()
    return not ended.is_set()


async def end_at_once(home: Home) -> None:
    """End everything that writes into the vault, and this server as by force: an orderly end would write into its place, too.

    The supervisor starts the server again, which waits for the vault then.
    """
    with contextlib.suppress(Unavailable):
        status = await control.ask(home, "status")
        names = [unit["name"] for unit in status["units"] if unit["name"] not in ("core", "programs")]
        await asyncio.gather(*(control.ask(home, "close", unit=name) for name in names), return_exceptions=True)
    os._exit(1)


def _server() -> uvicorn.Server:
    config = uvicorn.Config(
        _refuse,
        access_log=False,
        log_config=None,
        lifespan="off",
        server_header=False,
        date_header=False,
        ws="none",
        http=functools.partial(HttpConnection, ConnectionLimiter(PUBLIC), tls=lambda: None),  # type: ignore[arg-type]
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    return server


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    # Nobody has shown a key: no path is told.
    error = VaultMissing("The vault is not in its place.", "Mount or plug in its disk; `parachute doctor` says which.")
    await refuse(scope, send, error)
