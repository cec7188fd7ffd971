"""Lists of sessions, and the search in them."""

import json
import random
from typing import Any

import pytest

from parachute.chat.sessions.models import BRANCH
from parachute.chat.sessions.reindexing import Reindexing
from tests.contract.dart import check
from tests.contract.sessions import SessionList

from .conftest import SessionStorage


async def listed(storage: SessionStorage, **query: Any) -> list[str]:
    _, body = await storage.service.listing.page(**query)
    return [session["id"] for session in json.loads(body)["sessions"]]


async def test_the_shape_and_the_order(storage: SessionStorage) -> None:
    for day in random.Random(1).sample(range(1, 29), 28):
        await storage.add(f"day-{day}", at=f"2026-01-{day:02}T00:00:00.000Z")
    _, body = await storage.service.listing.page()
    value = json.loads(body)
    check(SessionList, value)
    for session in value["sessions"]:
        assert session["createdAt"].endswith("Z")
        assert {
            "id",
            "title",
            "updatedAt",
            "messageCount",
            "archived",
            "source",
            "trustLevel",
            "metadata",
        } <= session.keys()
    assert [session["id"] for session in value["sessions"]] == [f"day-{day}" for day in range(28, 0, -1)]
    assert await listed(storage, limit=3, offset=2) == ["day-26", "day-25", "day-24"]
    assert await listed(storage, limit=10, offset=27) == ["day-1"]
    assert await listed(storage, offset=28) == []


async def test_archived_ones_are_apart(storage: SessionStorage) -> None:
    for name in "abc":
        await storage.add(name)
    archived = await storage.service.archive("b", True)
    assert archived.archived is True
    assert sorted(await listed(storage)) == ["a", "c"]
    assert await listed(storage, archived=True) == ["b"]
    await storage.service.archive("b", False)
    assert sorted(await listed(storage)) == ["a", "b", "c"]
    assert await listed(storage, archived=True) == []


async def test_the_workspace(storage: SessionStorage) -> None:
    await storage.add("in", workspace_id="garden")
    await storage.add("out")
    assert await listed(storage, workspace="garden") == ["in"]
    assert await listed(storage, workspace="house") == []
    assert sorted(await listed(storage, workspace="")) == ["in", "out"]


@pytest.fixture
async def searchable(storage: SessionStorage) -> SessionStorage:
    await storage.add("cafe", title="Meeting in the Café")
    await storage.add("tea", title="About tea")
    await storage.add("quote", title='She said "never" AND left')
    await storage.service.record_turn(
        "tea", texts=[("user", "Which kettle?"), ("assistant", "The Über-Kettle 3000, naïve one.")], mode="sandboxed"
    )
    return storage


async def test_search(searchable: SessionStorage) -> None:
    for search, expected in (
        ("café", ["cafe"]),
        ("cafe", ["cafe"]),
        ("CAFE\u0301", ["cafe"]),
        ("kett", ["tea"]),
        ("uber", ["tea"]),
        ("naive", ["tea"]),
        ("kettle 3000", ["tea"]),
        ("3000 kettle", ["tea"]),
        ("kettle café", []),
        ('"never"', ["quote"]),
        ('"', []),
        ("'; DROP TABLE words; --", []),
        ("AND", ["quote"]),
        ("never AND left", ["quote"]),
        ("never OR xyz", []),
        ("NEAR(never left)", []),
        ("title:tea", []),
        ("session:tea", []),
        ("tea*", ["tea"]),
        ("^about", ["tea"]),
        ("-tea", ["tea"]),
        ("{tea}", ["tea"]),
        ("!!!", []),
        ("\0", []),
        ("😀", []),
    ):
        assert await listed(searchable, search=search) == expected, search
    for none in ("", "   ", None):
        assert len(await listed(searchable, search=none)) == 3, none


async def test_what_is_said_is_found_at_once(searchable: SessionStorage) -> None:
    assert await listed(searchable, search="saxophone") == []
    await searchable.service.record_turn("cafe", texts=[("user", "My saxophone.")], mode="sandboxed")
    assert await listed(searchable, search="saxophone") == ["cafe"]
    await searchable.service.archive("cafe", True)
    assert await listed(searchable, search="saxophone") == []
    assert await listed(searchable, search="saxophone", archived=True) == ["cafe"]
    await searchable.service.delete("cafe")
    assert await listed(searchable, search="saxophone", archived=True) == []


async def test_the_etag_changes_with_every_write_and_query(storage: SessionStorage) -> None:
    await storage.add("a")
    seen = set()

    async def new() -> None:
        etag, _ = await storage.service.listing.page()
        assert etag not in seen
        assert (await storage.service.listing.page())[0] == etag
        seen.add(etag)

    await new()
    await storage.add("b")
    await new()
    await storage.service.archive("a", True)
    await new()
    await storage.service.record_turn("a", texts=[("user", "x")], mode="direct")
    await new()
    await storage.service.configure("a", {"responseMode": "mention_only"}, approved_by="x", admin=True)
    await new()
    await storage.service.save(await storage.service.get("a"))
    await new()
    await storage.service.search_index.rebuild()
    await new()
    await storage.service.delete("a")
    await new()
    queries: list[dict[str, Any]] = [
        {},
        {"limit": 1},
        {"offset": 1},
        {"archived": True},
        {"search": "bc"},
        {"workspace": "b"},
    ]
    etags = [(await storage.service.listing.page(**query))[0] for query in queries]
    assert len(set(etags)) == len(queries)


async def test_a_list_is_never_older_than_its_etag(storage: SessionStorage) -> None:
    for number in range(20):
        await storage.add(f"s{number}")
        assert len(await listed(storage)) == number + 1


async def test_the_index_is_built_anew(searchable: SessionStorage) -> None:
    lines = [
        {"type": "user", "message": {"role": "user", "content": "Which kettle?"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "The Über-Kettle."}]}},
        {"type": "user", "isMeta": True, "message": {"content": "caveat"}},
    ]
    searchable.write_transcript("tea", "\n".join(json.dumps(line) for line in lines).encode())
    async with searchable.database.transaction() as connection:
        await connection.execute("DELETE FROM words")
    assert await searchable.service.search_index.rebuild() == 3
    assert await listed(searchable, search="uber kettle") == ["tea"]
    assert await listed(searchable, search="cafe") == ["cafe"]
    assert await listed(searchable, search="never") == ["quote"]
    assert await listed(searchable, search="caveat") == []
    # A second time changes nothing, and no session loses its words to another.
    await searchable.service.search_index.rebuild()
    assert await listed(searchable, search="uber kettle") == ["tea"]
    await searchable.service.delete("cafe")
    assert await listed(searchable, search="never") == ["quote"]
    words = await searchable.database.rows("SELECT COUNT(*) FROM words")
    assert words[0][0] == 4


async def test_words_of_scripts_without_spaces(storage: SessionStorage) -> None:
    await storage.add("glasses", title="修理眼镜")
    said = [("user", "我的眼镜镜片松了。螺丝掉了。"), ("assistant", "可以用小螺丝刀")]
    await storage.service.record_turn("glasses", texts=said, mode="sandboxed")
    await storage.add("walk", title="등대에서 산책")
    for search, expected in (
        ("镜片", ["glasses"]),
        ("螺丝", ["glasses"]),
        ("修理", ["glasses"]),
        ("镜", ["glasses"]),
        ("望远镜", []),
        ("등대", ["walk"]),
    ):
        assert await listed(storage, search=search) == expected, search
    assert [text for _, text in await storage.store.words.of("glasses")] == ["修理眼镜", *(text for _, text in said)]


async def test_an_index_from_before_is_divided_in_the_background(storage: SessionStorage) -> None:
    await storage.add("walk", title="A walk")
    async with storage.database.transaction() as connection:
        for number in range(100, 160):
            text = f"昨天去灯塔散步 {number}"
            await connection.execute(
                "INSERT INTO words (rowid, session, kind, body) VALUES (?, 'walk', 'user', ?)", (number, text)
            )
            await connection.execute("INSERT INTO words_of_session VALUES ('walk', ?)", (number,))
        await connection.execute("DELETE FROM migrations WHERE name = 'm0009_divided_words'")
    await storage.close()
    await storage.open()
    assert await listed(storage, search="灯塔") == []
    assert await storage.store.words.reindex()
    assert await listed(storage, search="灯塔 159") == ["walk"]
    assert await listed(storage, search="灯塔 100") == []
    await Reindexing(storage.store, storage.service.listing).run()
    assert await listed(storage, search="灯塔 100") == ["walk"]
    assert not await storage.store.words.reindex()
    assert (await storage.store.words.of("walk"))[1] == ("user", "昨天去灯塔散步 100")


async def test_pinned_ones_are_listed_by_themselves_and_stay_in_their_place(storage: SessionStorage) -> None:
    for day in (1, 2, 3):
        await storage.add(
            f"day-{day}", at=f"2026-01-{day:02}T00:00:00.000Z", workspace_id="garden" if day == 1 else None
        )
    for name in ("day-1", "day-2"):
        assert (await storage.service.pin(name, True)).pinned is True
    assert await listed(storage) == ["day-3", "day-2", "day-1"]
    assert await listed(storage, pinned=True) == ["day-2", "day-1"]
    assert await listed(storage, pinned=True, workspace="garden") == ["day-1"]
    _, body = await storage.service.listing.page()
    assert [each["pinned"] for each in json.loads(body)["sessions"]] == [False, True, True]
    await storage.service.archive("day-2", True)
    assert await listed(storage, pinned=True) == ["day-1"]
    await storage.service.pin("day-1", False)
    assert await listed(storage, pinned=True) == []


async def test_a_list_from_before_pins_says_that_nothing_is_pinned(storage: SessionStorage) -> None:
    await storage.add("old")
    async with storage.database.transaction() as connection:
        await connection.execute("DROP INDEX sessions_pinned")
        await connection.execute("ALTER TABLE sessions DROP COLUMN pinned")
        await connection.execute("UPDATE sessions SET summary = json_remove(summary, '$.pinned')")
        await connection.execute("DELETE FROM migrations WHERE name = 'm0010_pins'")
    await storage.close()
    await storage.open()
    _, body = await storage.service.listing.page()
    assert [each["pinned"] for each in json.loads(body)["sessions"]] == [False]
    await storage.service.pin("old", True)
    assert await listed(storage, pinned=True) == ["old"]


async def test_a_search_shows_the_newest_place_of_its_words(searchable: SessionStorage) -> None:
    texts = [("user", "word " * 200 + "The kettle is *red*. " + "word " * 200)]
    await searchable.service.record_turn("tea", texts=texts, mode="sandboxed")
    await searchable.service.record_turn("cafe", texts=[("user", "我的眼镜镜片松了")], mode="sandboxed")

    async def passages(search: str, **query: Any) -> list[str | None]:
        _, body = await searchable.service.listing.page(search=search, **query)
        return [session.get("passage") for session in json.loads(body)["sessions"]]

    (found,) = await passages("kettle", passages=True)
    assert found is not None
    assert "The kettle is *red*." in found
    assert len(found) < 200
    assert await passages("镜片", passages=True) == ["我的眼镜镜片松了"]
    # A title is shown already.
    assert await passages("never", passages=True) == [None]
    assert await passages("kettle") == [None]


async def add_family(storage: SessionStorage) -> None:
    """Two conversations, the older one with two branches."""
    branch = {"family": "first", "replaced": "m1", "message": "m2"}
    for day, name in enumerate(("first", "other", "second", "third"), 1):
        kept = {BRANCH: branch} if name in ("second", "third") else {}
        await storage.add(name, at=f"2026-01-{day:02}T00:00:00.000Z", metadata=kept)


async def test_a_family_of_branches_is_one_line_where_that_is_wanted(storage: SessionStorage) -> None:
    await add_family(storage)

    async def lines(**query: Any) -> list[tuple[str, list[str] | None]]:
        _, body = await storage.service.listing.page(folded=True, **query)
        return [(each["id"], each.get("versions")) for each in json.loads(body)["sessions"]]

    assert await listed(storage) == ["third", "second", "other", "first"], "an app has all of them"
    assert await lines() == [("third", ["second", "first"]), ("other", None)]
    assert await lines(limit=1) == [("third", ["second", "first"])]
    assert await lines(offset=1) == [("other", None)]
    assert await lines(offset=2) == []
    # What was said last is the newest.
    await storage.service.record_turn("first", texts=[("user", "Once more.")], mode="sandboxed")
    assert await lines() == [("first", ["third", "second"]), ("other", None)]
    for name in ("second", "third"):
        await storage.service.pin(name, True)
    assert await lines(pinned=True) == [("third", ["second"])]
    await storage.service.archive("first", True)
    assert await lines() == [("third", ["second"]), ("other", None)]
    assert await lines(archived=True) == [("first", None)]
    await storage.service.delete("third")
    assert await lines() == [("second", None), ("other", None)]


async def test_a_search_finds_the_branch_that_has_the_words(storage: SessionStorage) -> None:
    await add_family(storage)
    for name, said in (("first", "kettle"), ("second", "pot"), ("third", "pan")):
        await storage.service.record_turn(name, texts=[("user", f"shared {said}")], mode="sandboxed")
    for search, expected in (("kettle", "first"), ("pot", "second"), ("shared", "third")):
        assert await listed(storage, search=search, folded=True) == [expected]
    assert await listed(storage, search="shared", folded=True, offset=1) == []
    assert await listed(storage, search="shared") == ["third", "second", "first"]


async def test_a_family_from_elsewhere_that_is_no_family_hides_nothing(storage: SessionStorage) -> None:
    for name, branch in (("one", 7), ("two", {"family": 7}), ("three", {"family": "gone"}), ("four", {"family": []})):
        await storage.add(name, metadata={BRANCH: branch})
    assert len(await listed(storage, folded=True)) == 4
