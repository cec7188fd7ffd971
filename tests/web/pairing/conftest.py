from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.clock import ManualClock
from tests.support.server import Server
from tests.support.trust import home, keys

__all__ = ["home", "keys"]


@pytest.fixture
def clock() -> ManualClock:
    """Time that passes when the test says so."""
    return ManualClock()


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """One server for these tests, without a key."""
    with Server() as running:
        yield running


@pytest.fixture
def browser(server: Server) -> Iterator[Browser]:
    """A browser on this machine that has not signed in."""
    with Browser(server) as made:
        yield made
