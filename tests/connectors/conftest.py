"""One supervisor for all tests of a file, and one connector for those that leave it whole; each test has chats of its own."""

import itertools
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from parachute.connectors.platforms.models import Chat, Start
from tests.connectors.connected import Server, server
from tests.supervisor.launching import Launcher, launcher
from tests.support.telegram_api import TOKEN, TelegramApi

_numbers = itertools.count(1000)


@pytest.fixture(scope="module")
def supervisor() -> Iterator[Launcher]:
    """A supervisor without core."""
    with launcher() as running:
        yield running


@pytest.fixture(scope="module")
def api() -> Iterator[TelegramApi]:
    """A Bot API."""
    with TelegramApi() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def telegram(supervisor: Launcher, api: TelegramApi) -> AsyncIterator[Server]:
    """A connector at this Bot API."""
    async with server(supervisor, "telegram", Start(TOKEN, server=api.url)) as running:
        await running.connected()
        yield running


@pytest.fixture
def me() -> Chat:
    """A private conversation."""
    return Chat(str(next(_numbers)), "private")


@pytest.fixture
def family() -> Chat:
    """A group."""
    return Chat(f"-100{next(_numbers)}", "group")
