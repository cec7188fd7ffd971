"""Tags and places: found in texts and front matter, counted, and searched for."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from daily.journal.labels import Label, labels_of, tag_named
from module import DailyModule

from parachute.core.testing import Running, run
from tests.support.errors import raises

DAY = "2024-03-01"


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        yield running


async def _write(daily: Running, content: str, date: str = DAY, **fields: Any) -> str:
    answer = await daily.post("/entries", {"content": content, "date": date, **fields})
    assert answer.status == 200, answer.text
    return str(answer.json()["id"])


async def _found(daily: Running, **query: Any) -> list[str]:
    answer = await daily.get("/search", **query)
    assert answer.status == 200, answer.text
    return [entry["content"] for entry in answer.json()["entries"]]


async def _counted(daily: Running, what: str) -> list[tuple[str, int]]:
    return [(each["name"], each["entries"]) for each in (await daily.get(f"/{what}")).json()[what]]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("A #walk in the #Rain, and (#again).", ["walk", "Rain", "again"]),
        ("#travel/berlin", ["travel/berlin", "travel"]),
        ("# Heading\n#\theading", []),
        ("Issue #12, a#b, https://a.example/#top", []),
        ("`#code`\n```\n#fenced\n```\n#real", ["real"]),
        ("#über_alles #日記 #2024-goals", ["über_alles", "日記", "2024-goals"]),
        ("#Walk and #walk", ["walk"]),
        ("#" + "1" * 100_000, []),
    ],
)
def test_a_tag_is_a_word_with_a_sign_before_it(text: str, tags: list[str]) -> None:
    assert [each.text for each in labels_of(text, {})] == tags


def test_front_matter_has_tags_and_a_place() -> None:
    fields = {"tags": ["Sea", "#sun", 7], "place": "Café Einstein, Berlin,  Germany"}
    found = labels_of("", fields, [Label("tag", "holiday")])
    assert [each.text for each in found if each.kind == "tag"] == ["Sea", "sun", "7", "holiday"]
    assert [each.text for each in found if each.kind == "place"] == ["Café Einstein", "Berlin", "Germany"]
    assert [each.text for each in labels_of("", {"tags": "sea, sun"})] == ["sea", "sun"]
    assert labels_of("", {"tags": {"a": 1}, "place": 7}) == []


def test_what_is_no_tag_is_refused() -> None:
    assert tag_named(" #walk ") == "walk"
    for text in ("", "#", "two words", "12", "a,b", "x" * 300):
        with raises("tag_malformed"):
            tag_named(text)


async def test_entries_are_found_by_tags_and_place(daily: Running) -> None:
    await _write(daily, "A #walk by the sea.", tags=["sea/north"], place="Husum, Germany")
    await _write(daily, "A #walk in town.", date="2024-03-05", place="Berlin, Germany")
    await _write(daily, "Nothing.")
    assert await _found(daily, tag="walk") == ["A #walk in town.", "A #walk by the sea."]
    assert await _found(daily, tag="#WALK,sea") == ["A #walk by the sea."]
    assert await _found(daily, place="berlin, germany") == ["A #walk in town."]
    assert await _found(daily, q="sea", tag="walk", place="Germany") == ["A #walk by the sea."]
    assert await _found(daily, tag="walk", **{"from": "2024-03-02"}) == ["A #walk in town."]
    assert await _found(daily, tag="run") == []
    assert await _counted(daily, "tags") == [("walk", 2), ("sea", 1), ("sea/north", 1)]
    assert await _counted(daily, "places") == [("Germany", 2), ("Berlin", 1), ("Husum", 1)]
    for query in ({"tag": ","}, {"place": " , "}, {"tag": ",".join("abcdefghijk")}):
        assert (await daily.get("/search", q="sea", **query)).json()["key"] == "labels_malformed"
    assert (await daily.get("/search")).json()["key"] == "search_empty"


async def test_labels_follow_what_an_entry_says_now(daily: Running) -> None:
    entry = await _write(daily, "A #walk.")
    await daily.put(f"/entries/{entry}", {"content": "A #run."})
    assert await _counted(daily, "tags") == [("run", 1)]
    await daily.delete(f"/entries/{entry}")
    assert await _counted(daily, "tags") == []


async def test_the_front_matter_of_a_day_is_about_all_of_its_entries(daily: Running) -> None:
    path = daily.vault / f"Daily/journals/{DAY}.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ntags: [holiday]\nplace: Rome\n---\n\n# One\n\nFirst.\n\n# Two\n\nSecond.\n")
    await daily.emit("vault.changed", paths=[f"Daily/journals/{DAY}.md"])
    assert await _counted(daily, "tags") == [("holiday", 2)]
    await _write(daily, "Third.")
    assert await _found(daily, tag="holiday", place="rome") == ["Third.", "Second.", "First."]
    path.write_text(path.read_text().replace("[holiday]", "[work]"))
    await daily.emit("vault.changed", paths=[f"Daily/journals/{DAY}.md"])
    assert await _counted(daily, "tags") == [("work", 3)]


async def test_tags_of_a_new_entry_stand_in_the_front_matter(daily: Running) -> None:
    await _write(daily, "A walk.", tags=["#sea", "sea"], place="Husum")
    text = (daily.vault / f"Daily/journals/{DAY}.md").read_text()
    assert "    tags: [sea]\n    place: Husum\n" in text
    assert (await daily.post("/entries", {"content": "x", "tags": ["a b"]})).json()["key"] == "tag_malformed"


async def test_an_index_of_an_older_version_gets_labels(daily: Running, tmp_path: Path) -> None:
    await _write(daily, "A #walk.")
    await daily.module.journal.index.run(lambda connection: _forget(connection))
    daily.module.journal.index.close()
    await daily.module.journal.reconciler.everything()
    assert await _counted(daily, "tags") == [("walk", 1)]


def _forget(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TRIGGER entries_unlabelled")
    connection.execute("DROP TABLE labels")
    connection.execute("DROP TABLE known_labels")
