from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.mcp_client import OwnersBrowser
from tests.support.official import install
from tests.support.server import Server


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """One server for these tests, with Brain and the journal."""
    with Server() as running:
        install(running, "brain", "daily", "chat")
        yield running


@pytest.fixture
def owner(server: Server) -> Iterator[OwnersBrowser]:
    """The owner's browser."""
    with Browser(server) as browser:
        browser.sign_in()
        yield OwnersBrowser(browser)
