"""`python -m parachute.llm.offline`: started with a listening socket as descriptor 3, gone when nobody asks any more."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.llm.offline.app import OfflineApp
from parachute.llm.offline.engine import Engine
from parachute.llm.offline.llama import private_folder
from parachute.llm.offline.settings import OfflineSettings
from parachute.supervisor.activation import adopt_listener
from parachute.supervisor.activity import Activity
from parachute.supervisor.idle_server import IdleServer
from parachute.supervisor.notify import feed_watchdog, notify

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


async def serve(settings: OfflineSettings, listener: socket.socket, folder: Path) -> None:
    """Answer on `listener` until idle or stopped by a signal."""
    activity = Activity()
    engine = Engine(settings, activity, folder)
    server = IdleServer(OfflineApp(settings, engine, activity), listener, activity, settings.idle_seconds)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        engine.stop()
        server.stop()

    def wait_for_signal() -> None:
        signal.sigwait(_SIGNALS)
        with contextlib.suppress(RuntimeError):  # the loop has ended already
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait_for_signal, name="signals", daemon=True).start()
    engine.start()
    watchdog = asyncio.ensure_future(feed_watchdog())
    notify("READY=1")
    try:
        await server.serve(sockets=[listener])
    finally:
        notify("STOPPING=1")
        watchdog.cancel()
        await asyncio.gather(watchdog, return_exceptions=True)


def main() -> int:
    """Exit code 0 after an idle time or a signal, 2 when it was started wrongly."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # The engine installs handlers of its own for these signals, from a thread, at any moment. Blocked in every thread and
    # taken by sigwait they always reach us.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        settings = OfflineSettings.from_environment(os.environ)
        listener = adopt_listener(os.environ)
    except ParachuteError as error:
        print(error, file=sys.stderr)  # noqa: T201 - this is where the supervisor keeps what a process says
        return 2
    with private_folder() as folder:
        asyncio.run(serve(settings, listener, Path(folder)))
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Without the interpreter's tidying: a model that is still loading could not be interrupted, and taking down the engine
    # takes time in which the next process could answer already. Nothing is left to save.
    os._exit(code)
