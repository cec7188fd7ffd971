"""Core's process: `python -m parachute.serve`, on the sockets that it was started with."""

import asyncio
import contextlib
import ctypes
import logging
import os
import signal
import socket
import sys

import uvicorn

from parachute.app import create
from parachute.errors import ParachuteError
from parachute.settings.home import Home
from parachute.settings.store import load
from parachute.supervisor.credentials import Credentials
from parachute.supervisor.notify import notify, watchdog_interval

_LISTEN_FD = 3  # SD_LISTEN_FDS_START
_GRACEFUL_SECONDS = 5
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4  # linux/prctl.h


class _Server(uvicorn.Server):
    """Uvicorn that says when it is ready, and that it is alive."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            notify("READY=1")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        notify("STOPPING=1")
        await super().shutdown(sockets)


def main() -> int:
    """Serve until told to end."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # It would write a line for every request to the model.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    _tie_to_parent()
    count = os.environ.pop("LISTEN_FDS", "")
    if not count.isdigit() or int(count) < 1:
        print("Core is started by its socket: use `parachute start`.", file=sys.stderr)  # noqa: T201
        return 1
    sockets = [socket.socket(fileno=_LISTEN_FD + number) for number in range(int(count))]
    for listener in sockets:
        listener.set_inheritable(False)
    try:
        credentials = Credentials.take()
        home = Home.find()
        settings = load(home)
        host, port = sockets[0].getsockname()[:2]
        app = create(home, settings.model_copy(update={"host": host, "port": port}), credentials)
    except ParachuteError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        ws="none",
        timeout_graceful_shutdown=_GRACEFUL_SECONDS,
    )
    return asyncio.run(_serve(_Server(config), sockets))


async def _serve(server: _Server, sockets: list[socket.socket]) -> int:
    loop = asyncio.get_running_loop()
    watchdog = asyncio.create_task(_watchdog())

    def stop() -> None:
        server.should_exit = True
        # End the runs now: streams that are still read would keep the server open until its patience ends.
        runs = (
            getattr(server.config.loaded_app.state, "runs", None)
            if hasattr(server.config.loaded_app, "state")
            else None
        )
        if runs is not None:
            stopping.append(asyncio.create_task(runs.close()))

    stopping: list[asyncio.Task[None]] = []
    with contextlib.ExitStack() as stack:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)
            stack.callback(loop.remove_signal_handler, number)
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
        await server.serve(sockets)
    watchdog.cancel()
    return 0 if server.started else 1


async def _watchdog() -> None:
    interval = watchdog_interval()
    while interval:
        notify("WATCHDOG=1")
        await asyncio.sleep(interval)


def _tie_to_parent() -> None:
    """End with the supervisor, and let no other process of the same user read our memory or environment."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
