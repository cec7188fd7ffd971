"""Changes and deletions on the platform count until an agent is asked, and are told to it afterwards."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from parachute.base.database import Database
from parachute.connectors.platforms.models import Chat, Sender, Update
from parachute.connectors.updates.store import Batch, UpdateStore, create_updates

ANN = Update("u1", "message", Chat("7", "private"), Sender("7"), 0, message="m1", text="as it was")
EDIT = replace(ANN, id="u2", kind="edited", text="as it is")
DELETION = replace(ANN, id="u3", kind="deleted", text="")
BATCH = Batch("b", "telegram", "7", None, None, 0)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[UpdateStore]:
    """A store with one message that waits."""
    database = Database(tmp_path / "messengers.db", [create_updates])
    await database.open()
    store = UpdateStore(database)
    await store.add("telegram", [(ANN, True)], "")
    yield store
    await database.close()


async def take(store: UpdateStore) -> None:
    """A batch takes what waits."""
    await store.take(BATCH, [each.number for each in await store.waiting("telegram", "7", 9)])


async def noted(store: UpdateStore) -> list[str]:
    """The words of all notes."""
    return [each.update.text for each in await store.notes("telegram", "7")]


async def test_a_message_that_a_batch_has_taken_is_changed_and_deleted_until_its_run_begins(store: UpdateStore) -> None:
    await take(store)
    await store.rewrite("telegram", EDIT)
    assert [each.update.text for each in await store.of_batch("b")] == ["as it is"]
    assert [each.update.id for each in await store.withdraw("telegram", DELETION)] == ["u1"]
    assert await store.of_batch("b") == []
    assert await noted(store) == []


@pytest.mark.parametrize("is_answered", [False, True])
async def test_afterwards_the_next_message_says_how_it_is_now_and_nothing_waits_for_that(
    store: UpdateStore, is_answered: bool
) -> None:
    await take(store)
    await store.begun("b", "session", 1)
    if is_answered:
        await store.finish("b")
    await store.rewrite("telegram", EDIT)
    (note,) = await noted(store)
    assert note.endswith("as it is]")
    await store.withdraw("telegram", DELETION)
    (note,) = await noted(store)
    assert "as it is" not in note
    assert await store.count_waiting() == (0 if is_answered else 1)
    assert len(await store.open_chats()) == (0 if is_answered else 1)
    await store.begun("b", "session", 2, await store.notes("telegram", "7"))
    assert await noted(store) == []


async def test_of_a_message_that_no_agent_was_asked_nothing_is_told(store: UpdateStore) -> None:
    await store.done([each.number for each in await store.waiting("telegram", "7", 9)])
    await store.rewrite("telegram", EDIT)
    await store.withdraw("telegram", DELETION)
    assert await noted(store) == []
