from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.making import Make
from tests.support.mcp_client import OwnersBrowser
from tests.support.official import install
from tests.support.server import Server


@pytest.fixture(scope="module")
def server(make_shared_server: Make[Server]) -> Server:
    """A server with Brain, the journal and conversations."""
    running = make_shared_server()
    install(running, "brain", "daily", "chat")
    return running


@pytest.fixture
def owner(server: Server) -> Iterator[OwnersBrowser]:
    """The owner's browser."""
    with Browser(server) as browser:
        browser.sign_in()
        yield OwnersBrowser(browser)
