"""The connector of Matrix that is killed, away for long, or whose token Synapse no longer knows."""

from collections.abc import AsyncIterator

import pytest

from parachute.connectors.platforms.models import Start
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server, server
from tests.connectors.process.matrix.test_breaks import (  # noqa: F401 - the tests
    test_a_flood_while_it_is_away_comes_whole,
    test_a_question_is_answered_after_a_crash,
    test_killed_before_anything_was_stored_it_misses_nothing,
)
from tests.real.synapse import Synapse
from tests.supervisor.launching import Launcher

pytestmark = [needs_bubblewrap, pytest.mark.long]


@pytest.fixture
async def bot(supervisor: Launcher, api: Synapse) -> AsyncIterator[Server]:
    """A connector for one test, which may kill it."""
    async with server(supervisor, "matrix", Start(api.sign_in(), server=api.url)) as running:
        await running.connected()
        yield running


async def test_a_token_that_is_revoked_ends_it_with_a_sentence(bot: Server, api: Synapse) -> None:
    api.sign_out(bot.store.start_with.token)
    await bot.refused()
    assert not await bot.unit()
    assert "sign in for a new one" in bot.opened.connections()["matrix"].state.sentence
