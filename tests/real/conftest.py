"""Tests with programs that others wrote; they are left out of runs that do not name this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.connectors.bots.conftest import _shared, bot  # noqa: F401 - fixtures of the tests that come from there
from tests.connectors.bots.test_matrix import rooms  # noqa: F401
from tests.connectors.conftest import supervisor  # noqa: F401
from tests.connectors.process.matrix.conftest import ann  # noqa: F401
from tests.real import installed
from tests.real.synapse import Synapse
from tests.support.browser import Browser
from tests.support.making import Make
from tests.support.mcp_client import OwnersBrowser
from tests.support.naming import is_named
from tests.support.official import install
from tests.support.server import Server

FOLDER = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Installing needs large downloads at first: whoever wants it says so, as `make test-real` does."""
    return None if is_named(config, FOLDER) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give these tests the time that installing may take."""
    for item in items:
        if item.path.is_relative_to(FOLDER):
            item.add_marker(pytest.mark.timeout(2 * installed.SECONDS))


@pytest.fixture(scope="module")
def offering(make_shared_server: Make[Server]) -> Server:
    """A server that offers tools at `/mcp`."""
    running = make_shared_server()
    install(running, "brain", "daily", "chat")
    return running


@pytest.fixture
def owner(offering: Server) -> Iterator[OwnersBrowser]:
    """The owner's browser."""
    with Browser(offering) as browser:
        browser.sign_in()
        yield OwnersBrowser(browser)


@pytest.fixture(scope="package")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synapse]:
    """A home server of Matrix."""
    with Synapse(tmp_path_factory.mktemp("synapse")) as running:
        yield running
