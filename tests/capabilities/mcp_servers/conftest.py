"""MCP servers beside a supervisor."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.capabilities.mcp_servers.running_servers import RunningServers, running_servers
from tests.supervisor.launching import Launcher, launcher


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher() as running:
        yield running


@pytest.fixture
async def servers(supervisor: Launcher) -> AsyncIterator[RunningServers]:
    """MCP servers; everything of them has ended when the test has."""
    async with running_servers(supervisor) as made:
        yield made
