"""A server for each test of a run: it takes a tenth of a second, and no test sees the conversations of another."""

import pytest

from parachute.base.files import atomic_write
from tests.support.making import Make
from tests.support.server import Server


@pytest.fixture
def server(make_server: Make[Server]) -> Server:
    """A server whose agents are scripted."""
    return forgetful(make_server())


def forgetful(server: Server) -> Server:
    """Without a memory, which would be told of the first conversation when the second begins."""
    atomic_write(server.home.root / "hooks.yaml", "hooks: []\n")
    return server
