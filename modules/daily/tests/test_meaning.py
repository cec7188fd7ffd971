"""Entries that are found by what they mean."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from module import DailyModule

from parachute.core.testing import Running, run

DAY = "2024-03-01"


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        yield running


async def _write(daily: Running, content: str, date: str = DAY) -> str:
    answer = await daily.post("/entries", {"content": content, "date": date})
    assert answer.status == 200, answer.text
    return str(answer.json()["id"])


async def _found(daily: Running, q: str, **bounds: Any) -> list[tuple[str, str]]:
    await daily.module.journal.near.given()
    answer = (await daily.get("/search", q=q, **bounds)).json()
    return [(entry["content"], entry["found_by"]) for entry in answer["entries"]]


def _near(daily: Running, query: str, *words: str) -> None:
    texts = daily.fake.texts.items()
    daily.fake.near[query] = [next(key for key, text in texts if word in text) for word in words]


async def test_entries_with_the_words_come_first_and_then_those_with_the_meaning(daily: Running) -> None:
    for text in ("The puppy was sick.", "Walked the dog.", "Paid the rent."):
        await _write(daily, text)
    await daily.module.journal.near.given()
    _near(daily, "dog", "puppy", "Walked")
    assert await _found(daily, "dog") == [("Walked the dog.", "words"), ("The puppy was sick.", "meaning")]
    assert await _found(daily, "dog", **{"from": "2024-03-02"}) == []
    assert [entry["content"] for entry in await daily.interface("JournalInterface", "search", query="dog")] == [
        "Walked the dog."
    ]
    assert "puppy" in await daily.tool("daily-search", query="dog")


async def test_where_no_entry_has_all_words_some_of_them_will_do(daily: Running) -> None:
    for text in ("Zanele works at the lighthouse.", "Paid for the rent.", "With the others at the lake."):
        await _write(daily, text)
    found = await _found(daily, "Zanele's profession")
    assert found == [("Zanele works at the lighthouse.", "words")]
    await daily.module.journal.near.given()
    _near(daily, "what about the landlord with the money", "rent")
    # What any sentence has tells nothing.
    assert await _found(daily, "what about the landlord with the money") == [("Paid for the rent.", "meaning")]
    assert await daily.interface("JournalInterface", "search", query="Zanele's profession") == []


async def test_what_is_changed_or_removed_is_so_in_the_index(daily: Running) -> None:
    identifier = await _write(daily, "The puppy was sick.")
    await daily.module.journal.near.given()
    assert ["puppy" in text for text in daily.fake.texts.values()] == [True]
    assert (await daily.put(f"/entries/{identifier}", {"content": "The kitten was sick."})).status == 200
    await daily.module.journal.near.given()
    assert ["kitten" in text for text in daily.fake.texts.values()] == [True]
    assert (await daily.delete(f"/entries/{identifier}")).status == 200
    await daily.module.journal.near.given()
    assert daily.fake.texts == {}


async def test_words_of_scripts_without_spaces_come_before_the_meaning(daily: Running) -> None:
    for text in ("今天下雨。在家看书。", "昨天和叔叔一起去灯塔散步。", "早上跑步。"):
        await _write(daily, text)
    await daily.module.journal.near.given()
    _near(daily, "散步", "跑步", "灯塔")
    found = [("昨天和叔叔一起去灯塔散步。", "words"), ("早上跑步。", "meaning")]
    assert await _found(daily, "散步") == found
    (entry, _) = (await daily.get("/search", q="散步")).json()["entries"]
    assert entry["snippet"] == "昨天和叔叔一起去灯塔散步。"


async def test_a_person_bounds_words_and_meanings(daily: Running) -> None:
    kevin = "para:brain:a1b2c3d4e5f6"
    for text in (f"Sailed with Kevin. {kevin}", "Sailed alone.", f"The sloop of {kevin} leaks.", "The yacht is new."):
        entry = await _write(daily, text)
        await daily.post(f"/entries/{entry}/links", {})
    await daily.module.journal.near.given()
    _near(daily, "sailed", "yacht", "sloop")
    found = await _found(daily, "sailed", about=kevin)
    assert [(content.split()[0], how) for content, how in found] == [("Sailed", "words"), ("The", "meaning")]
    assert "leaks" in found[1][0]
    assert await _found(daily, "sailed", about="para:brain:zzzzzzzzzzzz") == []


async def test_an_answer_says_what_was_searched(daily: Running) -> None:
    for text in ("One.", "Two."):
        await _write(daily, text)
    await daily.module.journal.near.given()
    daily.fake.unread = 600
    answer = (await daily.get("/search", q="zyzzyva")).json()
    assert answer["searched"] == {"count": 2, "waiting": 600, "total": 600}
