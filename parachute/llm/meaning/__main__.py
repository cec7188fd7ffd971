"""`python -m parachute.llm.meaning`: started with a listening socket as descriptor 3, gone when nobody asks any more."""

import asyncio
import logging
import os
import socket
import sys
from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.base.files import private_folder
from parachute.base.memory import keep_little
from parachute.config.settings.home import Home
from parachute.llm.meaning.app import IndexApp
from parachute.llm.meaning.index import Index
from parachute.llm.meaning.models import IDLE_SECONDS
from parachute.supervisor.activation import adopt_listener
from parachute.supervisor.activity import Activity
from parachute.supervisor.idle_server import IdleServer


async def serve(index: Index, listener: socket.socket, idle_seconds: float) -> None:
    """Answer on `listener` until idle or stopped by a signal."""
    activity = Activity()
    server = IdleServer(IndexApp(index, activity), listener, activity, idle_seconds)
    await server.serve(sockets=[listener])


def main() -> int:
    """Exit code 0 after an idle time or a signal, 2 when it was started wrongly."""
    # Before the first thread: each request has one of its own, and what they used would never be given back.
    keep_little()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # Before numpy is imported: each thread of its own would take memory, and one is enough.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        listener = adopt_listener(os.environ)
        idle_seconds = float(os.environ.get(IDLE_SECONDS) or 120)
        folder = private_folder(Home.named().meaning)
        index = Index(Path(folder))
    except (ParachuteError, OSError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - this is where the supervisor keeps what a process says
        return 2
    asyncio.run(serve(index, listener, idle_seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
