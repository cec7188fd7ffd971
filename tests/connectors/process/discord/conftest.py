"""One connector at a fake Discord for each file; each test has people and channels of its own."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from parachute.connectors.platforms.models import Start
from tests.connectors.connected import Server, server
from tests.supervisor.launching import Launcher
from tests.support.discord_api import Channel, DiscordAPI


@pytest.fixture(scope="module")
def api() -> Iterator[DiscordAPI]:
    """A Discord."""
    with DiscordAPI() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def discord(supervisor: Launcher, api: DiscordAPI) -> AsyncIterator[Server]:
    """A connector at this Discord."""
    async with server(supervisor, "discord", Start(api.token, server=api.url)) as running:
        await running.connected()
        yield running


@pytest.fixture
def ann(api: DiscordAPI) -> str:
    """Somebody."""
    return api.person("Ann")


@pytest.fixture
def private(api: DiscordAPI, ann: str) -> Channel:
    """Their private conversation."""
    return api.private(ann)


@pytest.fixture
def general(api: DiscordAPI, discord: Server) -> Channel:
    """A channel of a server."""
    return api.guild("Home", "general")[0]
