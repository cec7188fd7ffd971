"""The end of sessions: told at once where somebody closes one, after a while for the others, and once for each stretch."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from parachute.base.clock import now
from parachute.chat.sessions.ending import SessionEnding
from parachute.chat.sessions.endings import Endings
from parachute.chat.sessions.models import Owner, Session

from .conftest import SessionStorage

LONG_AGO = "2025-01-01T00:00:00.000Z"


class Listener:
    """Announcements about the sessions of a storage; those in `busy` are being answered."""

    def __init__(self, storage: SessionStorage) -> None:
        self.storage = storage
        self.told: list[dict[str, Any]] = []
        self.busy: set[str] = set()
        self.endings = storage.endings
        storage.service._events.subscribe(self._hear)
        self.ending = SessionEnding(self.endings, storage.service._events, 30, self.busy.__contains__)

    async def _hear(self, name: str, data: dict[str, Any]) -> None:
        if name == "session.end":
            self.told.append(data)

    async def names(self) -> list[str]:
        """Sweep, and give the sessions of which was told since the last time."""
        await self.ending.sweep()
        found = [each["session_id"] for each in self.told]
        self.told.clear()
        return found

    async def say(self, session: str, count: int = 2) -> None:
        """A turn in a session."""
        texts = [("user", "text")] * count
        await self.storage.service.record_turn(session, texts=texts, mode="sandboxed")


@pytest.fixture
async def heard(storage: SessionStorage) -> Listener:
    made = Listener(storage)
    await made.endings.set_mark(LONG_AGO)
    return made


async def test_the_end_of_idle_sessions_is_told_once(storage: SessionStorage, heard: Listener) -> None:
    moments = [f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000Z" for number in range(1100)]
    await storage.add_many(Session(f"s{number}", moment, moment) for number, moment in enumerate(moments))
    await storage.add("busy")
    heard.busy.add("busy")
    assert sorted(await heard.names()) == sorted(f"s{number}" for number in range(1100))
    assert await heard.names() == []
    # The mark says the same without a row for each.
    assert await storage.database.rows("SELECT * FROM endings") == []


async def test_of_old_sessions_nothing_is_told_at_the_first_start(storage: SessionStorage) -> None:
    await storage.add("old")
    assert await Listener(storage).names() == []


@pytest.mark.parametrize("way", ["archive", "end", "delete"])
async def test_one_that_is_closed_ends_at_once(storage: SessionStorage, heard: Listener, way: str) -> None:
    await storage.add("a", at=now())
    await storage.add("b", at=now())
    await heard.say("a")
    found = await storage.service.get("a")
    assert await heard.names() == []
    await _close(storage, "a", way)
    await heard.ending.sweep()
    lasted = datetime.fromisoformat(found.updated_at) - datetime.fromisoformat(found.created_at)
    (told,) = heard.told
    assert abs(told.pop("duration") - lasted.total_seconds()) <= 1
    assert told == {"session_id": "a", "message_count": 2, "started_at": found.created_at, "ended_at": found.updated_at}
    assert await heard.names() == ["a"]
    assert await heard.names() == []


async def test_it_is_told_at_once_and_not_at_the_next_sweep(storage: SessionStorage, heard: Listener) -> None:
    await storage.add("a", at=now())
    woken = asyncio.Event()

    async def hear(name: str, data: dict[str, Any]) -> None:
        woken.set()

    heard.ending.start()
    try:
        await heard.names()
        storage.service._events.subscribe(hear)
        await storage.service.archive("a", True)
        async with asyncio.timeout(60):
            await woken.wait()
    finally:
        await heard.ending.close()


async def test_two_who_close_the_same_are_one_end(storage: SessionStorage, heard: Listener) -> None:
    await storage.add("a", at=now())
    await asyncio.gather(*(storage.service.archive("a", True) for _ in range(2)), storage.service.end("a"))
    assert await heard.names() == ["a"]
    await storage.service.archive("a", False)
    await storage.service.archive("a", True)
    await storage.service.delete("a")
    assert await heard.names() == []
    assert await storage.database.rows("SELECT * FROM endings") == []


async def test_one_that_goes_on_ends_again(storage: SessionStorage, heard: Listener) -> None:
    await storage.add("a", at=now())
    for count in (2, 4):
        await heard.say("a")
        await storage.service.archive("a", True)
        await heard.ending.sweep()
        assert [each["message_count"] for each in heard.told] == [count]
        assert await heard.names() == ["a"]
        await storage.service.archive("a", False)
    await heard.say("a")
    await _let_be_idle(storage, "a")
    assert await heard.names() == ["a"]
    await storage.service.archive("a", True)
    assert await heard.names() == []


async def test_one_that_was_closed_does_not_end_by_being_idle(storage: SessionStorage, heard: Listener) -> None:
    await storage.add("a", at=now())
    await storage.service.archive("a", True)
    assert await heard.names() == ["a"]
    await _let_be_idle(storage, "a")
    assert await heard.names() == []


async def test_one_that_was_taken_back_before_it_was_told_has_not_ended(
    storage: SessionStorage, heard: Listener
) -> None:
    await storage.add("a", at=now())
    await storage.service.archive("a", True)
    await storage.service.archive("a", False)
    assert await heard.names() == []
    await storage.service.end("a")
    await heard.say("a")
    assert await heard.names() == []
    await storage.service.end("a")
    heard.busy.add("a")
    assert await heard.names() == []
    heard.busy.clear()
    assert await heard.names() == []


async def test_the_answer_during_which_it_was_put_away_belongs_to_it(storage: SessionStorage, heard: Listener) -> None:
    await storage.add("a", at=now())
    heard.busy.add("a")
    await storage.service.archive("a", True)
    assert await heard.names() == []
    await heard.say("a")
    heard.busy.clear()
    await heard.ending.sweep()
    assert [each["message_count"] for each in heard.told] == [2]
    assert await heard.names() == ["a"]
    assert await heard.names() == []


@pytest.mark.parametrize("way", ["archive", "delete"])
async def test_an_end_that_nobody_heard_is_told_after_a_restart(tmp_path: Path, way: str) -> None:
    storage = await SessionStorage(tmp_path / "vault", tmp_path / "home").open()
    await Listener(storage).endings.set_mark(LONG_AGO)
    await storage.add("a", at=now())
    await _close(storage, "a", way)
    await storage.close()
    again = await SessionStorage(tmp_path / "vault", tmp_path / "home").open()
    assert await Listener(again).names() == ["a"]
    assert await Listener(again).names() == []
    await again.close()


async def test_what_agents_of_modules_said_is_left_to_the_time(storage: SessionStorage, heard: Listener) -> None:
    moment = now()
    session = Session("a", moment, moment)
    await storage.service.create(session, owner=Owner("letters", ""))
    await storage.service.archive("a", True)
    assert await heard.names() == []
    await _let_be_idle(storage, "a")
    assert await heard.names() == ["a"]
    await storage.service.delete("a")
    assert await heard.names() == []


async def test_a_disk_that_takes_nothing_is_told_in_one_line(
    storage: SessionStorage, caplog: pytest.LogCaptureFixture
) -> None:
    endings = Endings(storage.database)
    await endings.set_mark(LONG_AGO)
    await storage.add("one")
    async with storage.database.transaction() as connection:
        await connection.execute("PRAGMA query_only=ON")
    looks, looked_often = 0, asyncio.Event()

    def is_active(session: str) -> bool:
        nonlocal looks
        looks += 1
        if looks == 3:
            looked_often.set()
        return True

    ending = SessionEnding(endings, storage.service._events, 0.01, is_active)
    ending.start()
    try:
        async with asyncio.timeout(60):
            await looked_often.wait()
    finally:
        await ending.close()
    (record,) = [record for record in caplog.records if record.name == "parachute.chat.sessions.ending"]
    assert "sessions.db cannot be written" in record.getMessage()
    assert record.exc_info is None


async def _close(storage: SessionStorage, session: str, way: str) -> None:
    if way == "archive":
        await storage.service.archive(session, True)
    elif way == "end":
        await storage.service.end(session)
    else:
        await storage.service.delete(session)


async def _let_be_idle(storage: SessionStorage, session: str) -> None:
    def change(found: Session) -> None:
        found.updated_at = "2026-01-01T00:00:00.000Z"

    await storage.store.update(session, change)
