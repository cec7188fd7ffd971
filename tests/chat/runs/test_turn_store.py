"""The rows of turns that have ended."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.chat.runs import store
from parachute.chat.runs.turn_store import TurnDetails, TurnStore

SESSION, OTHER = "one", "other"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "runs.db", store.ALL)
    await database.open()
    yield database
    await database.close()


async def test_a_session_keeps_its_newest_turns(database: Database) -> None:
    runs, turns = store.RunStore(database), TurnStore(database)
    run, other = await runs.begin(SESSION), await runs.begin(OTHER)
    await turns.add(other, "of the other", TurnDetails(1))
    for number in range(203):
        await turns.add(run, f"m{number}", TurnDetails(number))
    assert [each.message for each in await turns.newest(SESSION, 500)] == [f"m{number}" for number in range(3, 203)]
    assert [each.message for each in await turns.newest(OTHER, 500)] == ["of the other"]


async def test_a_run_that_is_gone_has_no_turn(database: Database) -> None:
    runs, turns = store.RunStore(database), TurnStore(database)
    run = await runs.begin(SESSION)
    await runs.drop(run)
    await turns.add(run, "m", TurnDetails(1))
    assert await turns.newest(SESSION, 5) == []
