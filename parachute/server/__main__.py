"""The server's process: `python -m parachute.server`, on the sockets that it was started with."""

import gc
import os

from parachute.base.memory import keep_little

keep_little()
gc.disable()  # nothing that an import makes is garbage: to look for it would cost a twentieth of the start
# Otherwise pydantic reads the descriptions of all installed packages to find those that extend it: none does.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"

import asyncio
import logging
import signal
import socket
import sys

from parachute.base.budget import raise_descriptors
from parachute.base.disk_errors import machine_error
from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.config.vault.place import VaultPlace
from parachute.server.app import create
from parachute.server.http_server import HttpServer
from parachute.supervisor.credentials import Credentials, keep_private
from parachute.supervisor.notify import feed_watchdog

_LISTEN_FD = 3  # SD_LISTEN_FDS_START


def main() -> int:
    """Serve until a signal ends it."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # They log every request to the model, and every change of a file.
    for name in ("httpx2", "watchfiles"):
        logging.getLogger(name).setLevel(logging.WARNING)
    keep_private()
    raise_descriptors()
    count = os.environ.pop("LISTEN_FDS", "")
    if not count.isdigit() or int(count) < 1:
        print("The server is started by its socket: use `parachute start`.", file=sys.stderr)  # noqa: T201
        return 1
    try:
        sockets = [socket.socket(fileno=_LISTEN_FD + number) for number in range(int(count))]
    except OSError as error:
        print(f"The server was started without its sockets: {error}.", file=sys.stderr)  # noqa: T201
        return 1
    for listener in sockets:
        listener.set_inheritable(False)
    try:
        credentials = Credentials.take()
        home = Home.find()
        settings = load(home)
        if (home.root / "updates" / "update.json").exists():
            from parachute.ops.updates.starting import finish  # most computers were never updated

            finish(home, settings.vault)
        place = VaultPlace(home.root, settings.vault)
        if place.is_missing():
            from parachute.server.without_vault import wait_for_vault  # most vaults are always there
            from parachute.supervisor import going_back

            print(place.missing(), file=sys.stderr)  # noqa: T201
            if going_back.is_called_for(home.root):
                return 1  # a restore that brought no vault is taken back
            if not asyncio.run(wait_for_vault(place, sockets)):
                return 0
        host, port = sockets[0].getsockname()[:2]
        app = create(home, settings.model_copy(update={"host": host, "port": port}), credentials)
    except (ParachuteError, OSError, RuntimeError, MemoryError) as error:
        if (known := error if isinstance(error, ParachuteError) else machine_error(error)) is None:
            raise
        print(known, file=sys.stderr)  # noqa: T201
        return 1
    gc.freeze()
    gc.enable()
    return asyncio.run(_serve(HttpServer(app), sockets))


async def _serve(server: HttpServer, sockets: list[socket.socket]) -> int:
    loop = asyncio.get_running_loop()
    watchdog = asyncio.create_task(feed_watchdog())
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, setattr, server, "should_exit", True)
    await server.serve(sockets)
    watchdog.cancel()
    return 0 if server.started else 1


if __name__ == "__main__":
    sys.exit(main())
