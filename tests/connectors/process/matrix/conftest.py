"""One connector at a fake home server for each file; each test has people and rooms of its own."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from parachute.connectors.platforms.models import Start
from tests.connectors.connected import Server, server
from tests.supervisor.launching import Launcher
from tests.support.matrix_api import TOKEN, MatrixAPI


@pytest.fixture(scope="module")
def api() -> Iterator[MatrixAPI]:
    """A home server."""
    with MatrixAPI() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def matrix(supervisor: Launcher, api: MatrixAPI) -> AsyncIterator[Server]:
    """A connector at this home server."""
    async with server(supervisor, "matrix", Start(TOKEN, server=api.url)) as running:
        await running.connected()
        yield running


@pytest.fixture
def ann(api: MatrixAPI) -> str:
    """Somebody."""
    return api.person("Ann")
