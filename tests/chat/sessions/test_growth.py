"""The cost of a list or a search does not grow with the number of sessions, and a long transcript holds nobody up (G, F4)."""

import asyncio
import json
import sqlite3
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from parachute.base.database import Database
from parachute.base.errors import InvalidInput
from parachute.chat.sessions import migrations
from parachute.chat.sessions.indexed_words import match_expression
from parachute.chat.sessions.models import Session, para_id_of

from .conftest import SessionStorage


async def fill(storage: SessionStorage, first: int, last: int) -> None:
    """Sessions of one second each; one in ten is archived, and one in five was in the garden."""
    await storage.add_many(
        Session(
            id=f"s{number:05}",
            title=f"About subject number {number:05}",
            created_at=(moment := f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000Z"),
            updated_at=moment,
            archived=number % 10 == 9,
            workspace_id="garden" if number % 5 == 1 else None,
        )
        for number in range(first, last)
    )


async def ids(storage: SessionStorage, **query: object) -> list[str]:
    _, body = await storage.service.listing.page(**query)  # type: ignore[arg-type]
    return [session["id"] for session in json.loads(body)["sessions"]]


async def steps(storage: SessionStorage, work: Awaitable[object]) -> int:
    """Count, in hundreds, the instructions of SQLite for reading this."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    reader = storage.database._reader
    assert reader is not None
    await reader.set_progress_handler(count, 100)
    await work
    await reader.set_progress_handler(lambda: 0, 0)
    return counted


QUERIES: list[dict[str, Any]] = [
    {"search": "00007", "limit": 20},
    {"search": "subject", "limit": 20},
    {"search": "su", "limit": 20},
    {"search": "about subject", "limit": 20, "archived": True},
    {"from_the_end": 100, "limit": 20},
]


async def test_four_times_as_many_sessions_cost_no_more(storage: SessionStorage) -> None:
    spent: list[list[float]] = []
    for first, last in ((0, 300), (300, 1200)):
        await fill(storage, first, last)
        spent.append([])
        for query in QUERIES:
            chosen = dict(query)
            if from_the_end := chosen.pop("from_the_end", 0):
                chosen["offset"] = int(last * 0.9) - from_the_end
            assert await ids(storage, **chosen)
            storage.service.listing.changed()
            spent[-1].append(await steps(storage, storage.service.listing.page(**chosen)))
    for query, few, many in zip(QUERIES, *spent, strict=True):
        assert many < 2 * few, query


async def test_pages_are_the_same_from_both_ends(storage: SessionStorage) -> None:
    for number in range(60):
        # Many have the same time.
        await storage.add(f"s{number}", at=f"2026-01-01T00:00:{number // 7:02}.000Z", archived=number % 6 == 5)
    for archived, total in ((False, 50), (True, 10)):
        everything = await ids(storage, archived=archived)
        assert len(everything) == total
        for offset in range(total + 3):
            for limit in (1, 7):
                page = await ids(storage, archived=archived, offset=offset, limit=limit)
                assert page == everything[offset : offset + limit]


async def test_search_reads_on_until_there_are_enough(storage: SessionStorage) -> None:
    await fill(storage, 0, 600)
    found = await ids(storage, search="subject", workspace="garden", limit=100)
    assert found == [f"s{number:05}" for number in range(596, 0, -5)][:100]
    assert (
        await ids(storage, search="subject", workspace="garden", limit=100, offset=100)
        == [f"s{number:05}" for number in range(596, 0, -5)][100:]
    )
    assert len(await ids(storage, search="subject", archived=True)) == 60


async def test_one_letter_asks_for_two(storage: SessionStorage) -> None:
    await storage.add("tea", title="About 茶 and b")
    with pytest.raises(InvalidInput) as refused:
        await storage.service.listing.page(search=" b ")
    assert refused.value.key == "search_too_short"
    assert await ids(storage, search="茶") == ["tea"]
    assert await ids(storage, search="b xy") == []
    assert await ids(storage, search="about b") == ["tea"]


@pytest.mark.long
def test_whatever_is_a_word_can_be_searched() -> None:
    """The index knows no phrases, so that no word of a search may be two for it."""
    index = sqlite3.connect(":memory:")
    index.execute(migrations.CREATE_WORDS)
    letters = ["_", *(sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isalnum())]
    for first in range(0, len(letters), 20):
        search = " ".join(f"a{sign}b" for sign in letters[first : first + 20])
        index.execute("SELECT 1 FROM words WHERE words MATCH ?", (match_expression(search),)).fetchall()
    index.execute("INSERT INTO words (body) VALUES ('snake_case is one_word')")
    for search in ("snake_case", "ONE_WO", "case snake", "_is_"):
        assert index.execute("SELECT 1 FROM words WHERE words MATCH ?", (match_expression(search),)).fetchall()
    index.close()


async def test_a_turn_writes_little_more_than_its_words(storage: SessionStorage) -> None:
    await storage.add("long")
    journal = storage.database.path.with_name(f"{storage.database.path.name}-wal")
    answer = "A sentence of fifty characters, as models write. " * 200
    before = journal.stat().st_size
    for _ in range(10):
        await storage.service.record_turn("long", texts=[("user", "Go on."), ("assistant", answer)], mode="sandboxed")
    assert journal.stat().st_size - before < 10 * 6 * len(answer)


async def test_sessions_are_counted_as_they_come_and_go(storage: SessionStorage) -> None:
    await fill(storage, 0, 20)
    await storage.service.archive("s00001", True)
    await storage.service.archive("s00001", True)
    await storage.service.archive("s00009", False)
    await storage.service.delete("s00019")
    await storage.service.delete("s00002")
    assert await storage.service.count() == 18
    counts = await storage.database.rows("SELECT archived, sessions FROM counts ORDER BY archived")
    counted = await storage.database.rows("SELECT archived, count(*) FROM sessions GROUP BY archived ORDER BY archived")
    assert [tuple(row) for row in counts] == [tuple(row) for row in counted] == [(0, 17), (1, 1)]


async def test_an_older_database_is_counted_its_words_are_found_and_its_sessions_have_para_ids(tmp_path: Path) -> None:
    older = Database(tmp_path / "vault" / ".parachute" / "sessions.db", migrations.ALL[:2])
    await older.open()
    await older.close()
    connection = sqlite3.connect(older.path)
    with connection:
        for number, archived in ((1, 0), (2, 0), (3, 1)):
            names = "id, created_at, updated_at, message_count, archived, source, trust_level, metadata, summary"
            connection.execute(
                f"INSERT INTO sessions ({names}) VALUES (?, '', '', 0, ?, '', 'sandboxed', '{{}}', ?)",
                (f"s{number}", archived, json.dumps({"id": f"s{number}"})),
            )
            connection.execute("INSERT INTO words VALUES (?, 'title', 'A kettle')", (f"s{number}",))
            connection.execute("INSERT INTO words_of_session SELECT ?, max(rowid) FROM words", (f"s{number}",))
    connection.close()
    storage = await SessionStorage(tmp_path / "vault", tmp_path / "home").open()
    assert await storage.service.count() == 3
    assert sorted(await ids(storage, search="ke")) == ["s1", "s2"]
    listed = json.loads((await storage.service.listing.page())[1])["sessions"]
    assert {each["paraId"] for each in listed} == {para_id_of(each["id"]) for each in listed}
    await storage.service.delete("s1")
    assert await ids(storage, search="kettle") == ["s2"]
    await storage.close()


async def test_indexing_a_long_transcript_lets_others_write(storage: SessionStorage) -> None:
    await storage.add("long")
    await storage.add("other")
    line = {"type": "user", "message": {"role": "user", "content": "Some words to be found."}}
    storage.write_transcript("long", (json.dumps(line).encode() + b"\n") * 2_000)
    for _ in range(2):  # the second time, what is there is taken out first
        indexing = asyncio.create_task(storage.service.search_index.update("long"))
        written = 0
        while not indexing.done():
            await storage.service.archive("other", written % 2 == 0)
            written += 1
        await indexing
        assert written > 20
    assert len(await storage.database.rows("SELECT 1 FROM words_of_session WHERE session = 'long'")) == 2_001


async def test_a_session_that_is_deleted_while_it_is_indexed_leaves_nothing(storage: SessionStorage) -> None:
    await storage.add("long")
    line = {"type": "user", "message": {"role": "user", "content": "Some words to be found."}}
    storage.write_transcript("long", (json.dumps(line).encode() + b"\n") * 1_000)
    indexing = asyncio.create_task(storage.service.search_index.update("long"))
    while not await storage.database.row("SELECT 1 FROM words_of_session WHERE session = 'long' LIMIT 1 OFFSET 10"):
        await asyncio.sleep(0)
    await storage.service.delete("long")
    await indexing
    assert await storage.database.rows("SELECT session FROM words") == []
