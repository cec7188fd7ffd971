"""One supervisor for all tests of a file; each test has a platform and a connector of its own."""

from collections.abc import AsyncIterator, Iterator

import pytest

from parachute.connectors.platforms.models import Start
from tests.connectors.connected import Server, server
from tests.supervisor.launching import Launcher, launcher
from tests.support.telegram_api import TOKEN, TelegramApi


@pytest.fixture(scope="module")
def supervisor() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher() as running:
        yield running


@pytest.fixture
def api() -> Iterator[TelegramApi]:
    """A Bot API."""
    with TelegramApi() as running:
        yield running


@pytest.fixture
async def telegram(supervisor: Launcher, api: TelegramApi) -> AsyncIterator[Server]:
    """A connector at this Bot API."""
    async with server(supervisor, "telegram", Start(TOKEN, server=api.url)) as running:
        await running.connected()
        yield running
