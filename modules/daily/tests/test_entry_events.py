"""Events about entries."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from daily.journal.state import PendingEvent
from module import DailyModule

from parachute.core.testing import Running, run

DAY = "2025-03-04"


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        yield running


async def add(daily: Running, content: str, **fields: Any) -> dict[str, Any]:
    answer = await daily.post("/entries", {"content": content, "date": DAY, **fields})
    assert answer.status == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def texts(daily: Running, **query: Any) -> list[str]:
    answer = await daily.get("/entries", **query)
    assert answer.status == 200, answer.text
    return [entry["content"] for entry in answer.json()["entries"]]


async def test_an_event_is_told_after_the_entry_is_written(daily: Running) -> None:
    journal = daily.module.journal
    writing, go = asyncio.Event(), asyncio.Event()
    replacing = journal.day_files._files.replace

    async def replace(*arguments: Any) -> bool:
        writing.set()
        await go.wait()
        done: bool = await replacing(*arguments)
        return done

    journal.day_files._files.replace = replace
    slow = asyncio.create_task(add(daily, "slow"))
    await writing.wait()
    await journal.publisher.publish(PendingEvent(0, "daily.reflection.completed", {}))
    await journal.publisher.settled()
    assert [name for name, _ in daily.published] == ["daily.reflection.completed"]
    go.set()
    entry = await slow
    await journal.publisher.settled()
    assert [data.get("entry_id") for _, data in daily.published] == [None, entry["id"]]


async def test_an_event_that_core_did_not_take_is_told_after_the_next_start(tmp_path: Any) -> None:
    async with run(DailyModule, folder=tmp_path) as daily:
        state = daily.module.journal._state
        await state.enqueue(_created("para:daily:gone00000000"))
        entry = await add(daily, "Kept")
        await daily.module.journal.publisher.settled()
        await state.enqueue(_created(entry["id"]))
        daily.published.clear()
    async with run(DailyModule, folder=tmp_path) as daily:
        await daily.module.journal.publisher.settled()
        assert [data["entry_id"] for _, data in daily.published] == [entry["id"]]


async def test_what_a_process_did_last_is_told_by_the_next_one(tmp_path: Any) -> None:
    async with run(DailyModule, folder=tmp_path) as daily:
        changed, removed, kept = [(await add(daily, text))["id"] for text in ("One", "Two", "Three")]
        await daily.module.journal.publisher.settled()
        daily.module.journal.publisher.release = lambda _: None  # it ends as soon as the file is written
        await daily.put(f"/entries/{changed}", {"content": "Changed"})
        await daily.delete(f"/entries/{removed}")
        await daily.module.journal._state.enqueue(PendingEvent(0, "daily.entry.deleted", {"entry_id": kept}))
    async with run(DailyModule, folder=tmp_path) as daily:
        await daily.module.journal.publisher.settled()
        told = [(name, data["entry_id"]) for name, data in daily.published]
        assert told == [("daily.entry.updated", changed), ("daily.entry.deleted", removed)]


async def test_a_client_that_goes_away_leaves_nothing_half_done(daily: Running) -> None:
    writing, go = asyncio.Event(), asyncio.Event()
    replacing = daily.module.journal.day_files._files.replace

    async def replace(*arguments: Any) -> bool:
        writing.set()
        await go.wait()
        done: bool = await replacing(*arguments)
        return done

    daily.module.journal.day_files._files.replace = replace
    request = asyncio.create_task(add(daily, "Gone", idempotency_key="k"))
    await writing.wait()
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    go.set()
    entry = await add(daily, "Gone", idempotency_key="k")
    await daily.module.journal.publisher.settled()
    assert [data["entry_id"] for _, data in daily.published] == [entry["id"]]
    assert await texts(daily, date=DAY) == ["Gone"]


async def test_update_and_delete_tell_others_and_keep_what_was(daily: Running) -> None:
    entry = await add(daily, "One")
    same = await daily.put(f"/entries/{entry['id']}", {"content": "One"})
    assert same.json() == entry
    changed = (await daily.put(f"/entries/{entry['id']}", {"content": "Two", "title": "A\ntitle"})).json()
    assert (changed["content"], changed["title"]) == ("Two", "A title")
    await daily.delete(f"/entries/{entry['id']}")
    await daily.module.journal.publisher.settled()
    assert [name for name, _ in daily.published] == [
        "daily.entry.created",
        "daily.entry.updated",
        "daily.entry.deleted",
    ]
    versions = (await daily.request("GET", "/versions", query={"path": f"journals/{DAY}.md"})).json()["versions"]
    assert len(versions) == 2
    restored = await daily.post(f"/versions/{versions[0]['id']}/restore")
    assert restored.json() == {"restored": f"journals/{DAY}.md"}
    assert await texts(daily, date=DAY) == ["Two"]


def _created(entry_id: str) -> Any:
    from daily.journal.publishing import CREATED, entry_event

    return entry_event(CREATED, entry_id, "Text", None)
