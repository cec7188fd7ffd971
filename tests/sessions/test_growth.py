"""What a list or a search costs does not grow with the number of sessions, and a long transcript holds nobody up (G, F4)."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable
from pathlib import Path

import pytest

from parachute.database import Database
from parachute.errors import InvalidInput
from parachute.sessions import migrations

from .conftest import Shelf


async def fill(shelf: Shelf, first: int, last: int) -> None:
    """Sessions of one second each; one in ten is archived, and one in five was in the garden."""
    for number in range(first, last):
        await shelf.add(
            f"s{number:05}",
            title=f"About subject number {number:05}",
            at=f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000Z",
            archived=number % 10 == 9,
            workspace_id="garden" if number % 5 == 1 else None,
        )


async def ids(shelf: Shelf, **query: object) -> list[str]:
    _, body = await shelf.service.page(**query)  # type: ignore[arg-type]
    return [session["id"] for session in json.loads(body)["sessions"]]


async def steps(shelf: Shelf, work: Awaitable[object]) -> int:
    """How many hundreds of instructions SQLite needs to read for this."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    reader = shelf.database._reader
    assert reader is not None
    await reader.set_progress_handler(count, 100)
    await work
    await reader.set_progress_handler(lambda: 0, 0)
    return counted


@pytest.mark.parametrize(
    "query",
    [
        {"search": "00007", "limit": 20},
        {"search": "subject", "limit": 20},
        {"search": "su", "limit": 20},
        {"search": "about subject", "limit": 20, "archived": True},
        {"from_the_end": 100, "limit": 20},
    ],
    ids=str,
)
async def test_four_times_as_many_sessions_cost_no_more(shelf: Shelf, query: dict[str, int]) -> None:
    from_the_end = query.pop("from_the_end", 0)
    spent = []
    for first, last in ((0, 600), (600, 2400)):
        await fill(shelf, first, last)
        offset = {"offset": int(last * 0.9) - from_the_end} if from_the_end else {}
        assert await ids(shelf, **query, **offset)
        shelf.service._lists.clear()
        spent.append(await steps(shelf, shelf.service.page(**query, **offset)))  # type: ignore[arg-type]
    assert spent[1] < 2 * spent[0]


async def test_pages_are_the_same_from_both_ends(shelf: Shelf) -> None:
    for number in range(60):
        # Many have the same time.
        await shelf.add(f"s{number}", at=f"2026-01-01T00:00:{number // 7:02}.000Z", archived=number % 6 == 5)
    for archived, total in ((False, 50), (True, 10)):
        everything = await ids(shelf, archived=archived)
        assert len(everything) == total
        for offset in range(total + 3):
            for limit in (1, 7):
                page = await ids(shelf, archived=archived, offset=offset, limit=limit)
                assert page == everything[offset : offset + limit]


async def test_search_reads_on_until_there_are_enough(shelf: Shelf) -> None:
    await fill(shelf, 0, 600)
    found = await ids(shelf, search="subject", workspace="garden", limit=100)
    assert found == [f"s{number:05}" for number in range(596, 0, -5)][:100]
    assert (
        await ids(shelf, search="subject", workspace="garden", limit=100, offset=100)
        == [f"s{number:05}" for number in range(596, 0, -5)][100:]
    )
    assert len(await ids(shelf, search="subject", archived=True)) == 60


async def test_one_letter_asks_for_two(shelf: Shelf) -> None:
    await shelf.add("tea", title="About 茶 and b")
    with pytest.raises(InvalidInput) as refused:
        await shelf.service.page(search=" b ")
    assert refused.value.key == "search_too_short"
    assert await ids(shelf, search="茶") == ["tea"]
    assert await ids(shelf, search="b xy") == []
    assert await ids(shelf, search="about b") == ["tea"]


async def test_sessions_are_counted_as_they_come_and_go(shelf: Shelf) -> None:
    await fill(shelf, 0, 20)
    await shelf.service.archive("s00001", True)
    await shelf.service.archive("s00001", True)
    await shelf.service.archive("s00009", False)
    await shelf.service.delete("s00019")
    await shelf.service.delete("s00002")
    assert await shelf.service.count() == 18
    counts = await shelf.database.rows("SELECT archived, sessions FROM counts ORDER BY archived")
    counted = await shelf.database.rows("SELECT archived, count(*) FROM sessions GROUP BY archived ORDER BY archived")
    assert [tuple(row) for row in counts] == [tuple(row) for row in counted] == [(0, 17), (1, 1)]


async def test_an_older_database_is_counted_and_its_words_are_found(tmp_path: Path) -> None:
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
    shelf = await Shelf(tmp_path / "vault", tmp_path / "home").open()
    assert await shelf.service.count() == 3
    assert sorted(await ids(shelf, search="ke")) == ["s1", "s2"]
    await shelf.service.delete("s1")
    assert await ids(shelf, search="kettle") == ["s2"]
    await shelf.close()


async def test_indexing_a_long_transcript_lets_others_write(shelf: Shelf) -> None:
    await shelf.add("long")
    await shelf.add("other")
    line = {"type": "user", "message": {"role": "user", "content": "Some words to be found."}}
    shelf.write_transcript("long", (json.dumps(line).encode() + b"\n") * 2_000)
    for _ in range(2):  # the second time, what is there is taken out first
        indexing = asyncio.create_task(shelf.service.index("long"))
        written = 0
        while not indexing.done():
            await shelf.service.archive("other", written % 2 == 0)
            written += 1
        await indexing
        assert written > 20
    assert len(await shelf.database.rows("SELECT 1 FROM words_of_session WHERE session = 'long'")) == 2_001


async def test_a_session_that_is_deleted_while_it_is_indexed_leaves_nothing(shelf: Shelf) -> None:
    await shelf.add("long")
    line = {"type": "user", "message": {"role": "user", "content": "Some words to be found."}}
    shelf.write_transcript("long", (json.dumps(line).encode() + b"\n") * 1_000)
    indexing = asyncio.create_task(shelf.service.index("long"))
    while not await shelf.database.row("SELECT 1 FROM words_of_session WHERE session = 'long' LIMIT 1 OFFSET 10"):
        await asyncio.sleep(0)
    await shelf.service.delete("long")
    await indexing
    assert await shelf.database.rows("SELECT session FROM words") == []
