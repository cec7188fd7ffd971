"""A fake Discord for each test"""

from collections.abc import Iterator

import pytest

pytest.importorskip("discord")

from tests.support.discord_api import DiscordAPI  # noqa: E402


@pytest.fixture
def discord() -> Iterator[DiscordAPI]:
    with DiscordAPI() as api:
        yield api
