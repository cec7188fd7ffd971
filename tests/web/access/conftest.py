import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from parachute.security.keys.cli_token import CliToken
from parachute.security.keys.service import Keys
from tests.support.trust import home, keys
from tests.support.waiting import wait_until

from .gate import Gate, Server

__all__ = ["home", "keys"]


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Event loop for requests that the test makes up."""
    made = asyncio.new_event_loop()
    yield made
    made.run_until_complete(made.shutdown_default_executor())
    made.close()


@pytest.fixture
def gate(home: Path, keys: Keys, loop: asyncio.AbstractEventLoop) -> Callable[..., Gate]:
    """Makes the gate with the given settings before an application that says who called."""
    return lambda **settings: Gate(keys, CliToken(home), settings, loop)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Serves an application with uvicorn on a real socket until the test ends."""
    running: list[tuple[Server, threading.Thread]] = []

    def start(app: object, host: str = "127.0.0.1") -> Server:
        server = Server(app, host)
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        wait_until(lambda: server.is_started or not thread.is_alive(), "the server listens")
        assert thread.is_alive()
        return server

    yield start
    for server, thread in running:
        server.stop()
        thread.join()
