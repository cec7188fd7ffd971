import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from parachute.keys.cli_token import CliToken
from parachute.keys.service import Keys
from tests.support.trust import home, keys

from .gate import Gate, Server

__all__ = ["home", "keys"]


@pytest.fixture
def gate(home: Path, keys: Keys) -> Callable[..., Gate]:
    """Makes the gate with the given settings before an application that says who called."""
    return lambda **settings: Gate(keys, CliToken(home), settings)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Serves an application with uvicorn on a real socket until the test ends."""
    running: list[tuple[Server, threading.Thread]] = []

    def start(app: object, host: str = "127.0.0.1") -> Server:
        server = Server(app, host)
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        deadline = time.monotonic() + 20
        while not server.is_started:
            assert thread.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return server

    yield start
    for server, thread in running:
        server.stop()
        thread.join(20)
        assert not thread.is_alive()
