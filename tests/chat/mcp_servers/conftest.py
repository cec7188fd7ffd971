"""A street of MCP servers."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.mcp_servers.street import Street, street
from tests.supervisor.launching import Launcher, launcher


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher() as running:
        yield running


@pytest.fixture
async def servers(supervisor: Launcher) -> AsyncIterator[Street]:
    """MCP servers; everything of them has ended when the test has."""
    async with street(supervisor) as made:
        yield made
