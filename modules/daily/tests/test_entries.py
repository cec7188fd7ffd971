"""Writing, reading, changing and finding entries."""

import asyncio
import datetime
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import yaml
from daily.journal.database import Database
from module import DailyModule

from parachute.core.testing import Running, run

DAY = "2025-03-04"
FILE = f"Daily/journals/{DAY}.md"


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


async def test_an_entry_is_written_in_the_format_of_the_app(daily: Running) -> None:
    entry = await add(daily, "Met Kevin.\r\n\r\nGood talk.  \n")
    assert re.fullmatch(r"para:daily:[a-z0-9]{12}", entry["id"])
    name, time = entry["id"].removeprefix("para:"), entry["time"]
    assert (daily.vault / FILE).read_text() == (
        f"---\ndate: {DAY}\nentries:\n  {name}:\n    type: text\n    created: {time}\n---\n\n"
        f"# para:{name} {time}\n\nMet Kevin.\n\nGood talk.\n\n---\n"
    )
    assert (await daily.get(f"/entries/{entry['id']}")).json() == entry
    assert (await daily.get(f"/entries/{name.removeprefix('daily:')}")).json() == entry
    await daily.module.journal.publisher.settled()
    event = {"entry_id": entry["id"], "content": "Met Kevin.\n\nGood talk.", "audio_path": None, "entry_path": FILE}
    assert daily.published == [("daily.entry.created", event)]


async def test_what_others_wrote_keeps_every_byte(daily: Running) -> None:
    (daily.vault / "Daily/journals").mkdir(parents=True)
    before = (
        "\ufeff---\r\n# My own words\r\ndate: 2025-03-04   # a Tuesday\r\nmood: {good: yes}\r\nentries:\r\n"
        "  # the first one\r\n  abc123:\r\n    type: voice\r\n    odd key: [1,  2] # spaced\r\n    status: complete\r\n"
        "tags: [a,b]\r\n---\r\n\r\nBefore all.\r\n\r\n# para:abc123 07:30\r\n  Text \x0b\u2028 with odd signs \r\n\r\n---\r\n"
        "# Plain 😀\r\n\r\nText"
    )
    (daily.vault / FILE).write_bytes(before.encode())
    new = await add(daily, "Mine\n# Not a new entry")
    name = new["id"].removeprefix("para:")
    lines = f"  {name}:\r\n    type: text\r\n    created: {new['time']}\r\n"
    block = f"\r\n\r\n# para:{name} {new['time']}\r\n\r\nMine\r\n#\tNot a new entry\r\n\r\n---\r\n"
    expected = before.replace("    status: complete\r\n", f"    status: complete\r\n{lines}") + block
    assert (daily.vault / FILE).read_bytes() == expected.encode()
    assert (await daily.get(f"/entries/{new['id']}")).json()["content"] == "Mine\n# Not a new entry"
    listed = (await daily.get("/entries", date=DAY)).json()["entries"]
    assert [(entry["id"], entry["title"]) for entry in listed] == [
        (None, ""),
        ("para:abc123", "07:30"),
        (None, "Plain 😀"),
        (new["id"], new["time"]),
    ]
    changed = await daily.put("/entries/para:abc123", {"content": "New"})
    assert changed.json()["fields"]["odd key"] == [1, 2]
    assert (await daily.delete(f"/entries/{new['id']}")).status == 200
    updated = changed.json()["fields"]["updated"]
    mine = before.replace("  Text \x0b\u2028 with odd signs \r\n\r\n---\r\n", "\r\nNew\r\n\r\n---\r\n\r\n").replace(
        "    status: complete\r\n", f"    status: complete\r\n    updated: '{updated}'\r\n"
    )
    assert (daily.vault / FILE).read_bytes() == f"{mine}\r\n\r\n".encode()


async def test_many_entries_of_twenty_clients(daily: Running) -> None:
    async def client(number: int) -> list[str]:
        return [(await add(daily, f"Entry {number}/{each}"))["id"] for each in range(6)]

    ids = [each for client_ids in await asyncio.gather(*map(client, range(20))) for each in client_ids]
    assert len(set(ids)) == 120
    expected = {f"Entry {number}/{each}" for number in range(20) for each in range(6)}
    found = await texts(daily, date=DAY, limit=1000)
    assert len(found) == 120
    assert set(found) == expected
    text = (daily.vault / FILE).read_text()
    assert text.count("# para:daily:") == 120
    assert len(yaml.safe_load(text.split("---")[1])["entries"]) == 120
    await daily.module.journal.publisher.settled()
    assert sorted(data["entry_id"] for _, data in daily.published) == sorted(ids)


async def test_edits_of_others_at_the_same_time_are_not_lost(daily: Running) -> None:
    """Another program replaces the file between our reading and our writing."""
    await add(daily, "first")
    journal = daily.module.journal.day_files
    reading = journal.read
    edits = iter(["by hand", "by hand again"])

    async def read(path: str) -> Any:
        found = await reading(path)
        if (edit := next(edits, None)) is not None:
            with (daily.vault / FILE).open("a") as file:
                file.write(f"\n{edit}\n")
        return found

    journal.read = read
    await add(daily, "second")
    text = (daily.vault / FILE).read_text()
    assert all(word in text for word in ("first", "by hand\n", "by hand again\n", "second"))


async def test_the_version_that_is_kept_is_the_one_that_is_replaced(daily: Running) -> None:
    entry = await add(daily, "first")
    path = daily.vault / FILE
    journal = daily.module.journal.day_files
    replacing, edits = journal._files.replace, iter(["\nby hand\n"])

    async def replace(*arguments: Any) -> bool:
        if (edit := next(edits, None)) is not None:
            path.write_text(path.read_text() + edit)
        done: bool = await replacing(*arguments)
        return done

    journal._files.replace = replace
    await daily.delete(f"/entries/{entry['id']}")
    (newest, *_) = (await daily.get("/versions")).json()["versions"]
    assert "by hand" in (await daily.get(f"/versions/{newest['id']}")).text


async def test_an_entry_is_written_when_the_index_is_broken(daily: Running) -> None:
    """Nobody writes an entry a second time because it cannot be found yet."""
    await add(daily, "first")
    index = daily.module.journal.index
    database, index._database = index._database, Database(daily.core.data / "no/such/folder.db", "")
    entry = await add(daily, "second")
    index._database = database
    assert (await daily.get(f"/entries/{entry['id']}")).json()["content"] == "second"
    assert await texts(daily, date=DAY) == ["first", "second"]
    await daily.module.journal.publisher.settled()
    assert [data["content"] for _, data in daily.published] == ["first", "second"]


@pytest.mark.long
async def test_a_day_is_shown_while_years_are_read_for_the_first_time(daily: Running) -> None:
    await add(daily, "Kept")
    daily.module.journal.reconciler._first = asyncio.get_running_loop().create_future()
    assert await texts(daily, date=DAY) == ["Kept"]


async def test_many_files_of_one_day_are_no_harm_to_the_others(daily: Running) -> None:
    folder = daily.vault / "Daily/journals"
    folder.mkdir(parents=True)
    for number in range(12):
        (folder / f"{DAY}.part-{number:02d}.md").write_text(f"# para:daily:{number:012d} 1\n\nNo {number}\n")
    (folder / "2025-03-05.md").write_text("# para:daily:bbbbbbbbbbbb 10:00\n\nAnother day\n")
    await daily.emit("vault.changed", paths=["Daily/journals"])
    assert (await texts(daily, limit=100))[0] == "Another day"
    assert len(await texts(daily, limit=100)) == 8
    problems = (await daily.get("/problems")).json()["problems"]
    assert len(problems) == 5
    assert all("more than 8 files" in problem["problem"] for problem in problems)


async def test_the_same_key_gives_the_same_entry(daily: Running) -> None:
    first, *others = await asyncio.gather(*(add(daily, "Once", idempotency_key="k1") for _ in range(10)))
    assert all(other["id"] == first["id"] for other in others)
    assert await texts(daily, date=DAY) == ["Once"]
    refused = await daily.post("/entries", {"content": "Other", "date": DAY, "idempotency_key": "k1"})
    assert refused.status == 409
    await daily.delete(f"/entries/{first['id']}")
    again = await daily.post("/entries", {"content": "Once", "date": DAY, "idempotency_key": "k1"})
    assert (again.status, again.json()["detail"]) == (409, "idempotency_key: the entry of this key was deleted since.")
    assert await texts(daily, date=DAY) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"---\ndate: [\n---\n\n# para:daily:aaaaaaaaaaaa 10:00\n\nOld\n", "This is not YAML"),
        (b"---\nentries: [a]\n---\n", "no list of `id"),
        (b"---\ndate: 2025-03-04\n\n# para:daily:aaaaaaaaaaaa 10:00\n\nOld\n", "no second one"),
        (b"---\na: &x [1]\nb: *x\n---\n", "aliases"),
        (b"caf\xe9\n", "not in UTF-8"),
        (b"x" * (9 * 1024 * 1024), "larger than"),
    ],
)
async def test_a_file_that_cannot_be_changed_stays_as_it_is(daily: Running, content: bytes, why: str) -> None:
    (daily.vault / "Daily/journals").mkdir(parents=True)
    (daily.vault / FILE).write_bytes(content)
    entry = await add(daily, "New")
    assert (daily.vault / FILE).read_bytes() == content
    assert entry["path"] == f"Daily/journals/{DAY}.more.md"
    problems = (await daily.get("/problems")).json()["problems"]
    assert [problem["path"] for problem in problems] == [FILE]
    assert why in problems[0]["problem"]
    listed = await texts(daily, date=DAY)
    assert listed[-1] == "New"
    if b"Old" in content:
        assert listed[-2:] == ["Old", "New"]
        refused = await daily.put("/entries/para:daily:aaaaaaaaaaaa", {"content": "Changed"})
        assert (refused.status, refused.json()["hint"]) == (409, "Fix it in a text editor.")
        assert (daily.vault / FILE).read_bytes() == content
    assert (await daily.put(f"/entries/{entry['id']}", {"content": "Newer"})).status == 200


async def test_fields_of_a_file_that_is_no_yaml_are_read_as_far_as_it_goes(daily: Running) -> None:
    (daily.vault / "Daily/journals").mkdir(parents=True)
    file = "---\ntitle: Re: x\nentries:\n  para:daily:aaaaaaaaaaaa:\n    mood: good\n    mood: bad\n    place: by: sea\n---\n"
    (daily.vault / FILE).write_text(file + "\n# para:daily:aaaaaaaaaaaa 10:00\n\nOld\n")
    await daily.emit("vault.changed", paths=[FILE])
    found = (await daily.get("/entries/para:daily:aaaaaaaaaaaa")).json()
    assert (found["content"].strip(), found["fields"]["mood"], found["fields"]["place"]) == ("Old", "good", "by: sea")
    assert [each["path"] for each in (await daily.get("/problems")).json()["problems"]] == [FILE]


async def test_a_link_in_the_place_of_a_file_is_not_followed(daily: Running) -> None:
    (daily.vault / "Daily/journals").mkdir(parents=True)
    secret = daily.vault / "secret.md"
    secret.write_text("# para:daily:aaaaaaaaaaaa 10:00\n\nSecret\n")
    (daily.vault / FILE).symlink_to(secret)
    await add(daily, "New")
    assert await texts(daily, date=DAY) == ["New"]
    assert "New" not in secret.read_text()


async def test_bad_requests_change_nothing(daily: Running) -> None:
    for body in (
        {"content": " \n"},
        {"content": "x", "date": "2025-02-30"},
        {"content": "x", "date": "2025-1-1"},
        {"content": "x" * 1_000_001},
        {"content": "a\0b"},
        {"content": "x", "title": "t" * 301},
        {"content": "x", "audio_path": "assets/../../x"},
        {"content": "x", "audio_path": "journals/2025-03-04.md"},
        {"content": "x", "duration": 5},
        {"content": "x", "idempotency_key": "k" * 201},
    ):
        assert (await daily.post("/entries", body)).status == 422, body
    half = await daily.request("POST", "/entries", b'{"content": "\\ud800"}')
    assert half.status == 422
    assert (await daily.post("/entries", {"content": "x", "audio_path": "assets/a.wav"})).status == 404
    assert not (daily.vault / "Daily").exists()
    for path in (
        "/entries/para:daily:aaaaaaaaaaaa",
        "/entries/x",
        "/entries/plain_1",
        "/entries/para:brain:aaaaaaaaaaa",
    ):
        assert (await daily.get(path)).status == 404
        assert (await daily.put(path, {"content": "x"})).status == 404
        assert (await daily.delete(path)).status == 404
    for query in (
        {"limit": 0},
        {"limit": 1001},
        {"offset": -1},
        {"from": "x"},
        {"from": "2025-02-02", "to": "2025-01-01"},
    ):
        assert (await daily.get("/entries", **query)).status == 422, query


async def test_lists_and_search(daily: Running) -> None:
    for day, content in (
        ("2025-01-01", "Café with Zoë 😀"),
        ("2025-01-02", "Walked the dog"),
        ("2025-01-03", "Cafeteria, dog"),
    ):
        await daily.post("/entries", {"content": content, "date": day, "title": f"On {day}"})
    assert await texts(daily) == ["Cafeteria, dog", "Walked the dog", "Café with Zoë 😀"]
    assert await texts(daily, limit=1, offset=1) == ["Walked the dog"]
    assert await texts(daily, **{"from": "2025-01-02", "to": "2025-01-02"}) == ["Walked the dog"]

    async def search(q: str, **more: Any) -> list[str]:
        answer = await daily.get("/search", q=q, **more)
        assert answer.status == 200, answer.text
        return [entry["date"][-1] for entry in answer.json()["entries"]]

    assert await search("dog") == ["3", "2"]
    assert await search("DOG walk") == ["2"]
    assert await search("cafe") == ["3", "1"]
    assert await search("zoe") == ["1"]
    assert await search("😀") == ["1"]
    assert await search("on 2025 01 02") == ["2"]
    assert await search("dog", **{"from": "2025-01-03"}) == ["3"]
    for odd in ('"', "dog AND", "NEAR(", "title:dog", "a*b", "-", "'"):
        await search(odd)
    assert (await daily.get("/search", q="  ")).status == 422


async def test_hand_edits_are_seen(daily: Running) -> None:
    entry = await add(daily, "Old words")
    path = daily.vault / FILE
    path.write_text(path.read_text().replace("Old words", "New words"))
    assert (await daily.get(f"/entries/{entry['id']}")).json()["content"] == "New words"
    (daily.vault / "Daily/journals/2025-03-05.md").write_text("# para:daily:bbbbbbbbbbbb 10:00\n\nBy hand\n")
    await daily.emit("vault.changed", paths=["Daily/journals/2025-03-05.md", "Brain/x.md"])
    assert [e["content"] for e in (await daily.get("/search", q="hand")).json()["entries"]] == ["By hand"]
    path.unlink()
    await daily.emit("vault.changed", paths=["Daily/journals"])
    assert (await daily.get("/search", q="words")).json()["entries"] == []


@pytest.mark.parametrize("is_folder", [False, True])
async def test_an_index_that_is_gone_is_made_again(tmp_path: Any, is_folder: bool) -> None:
    async with run(DailyModule, folder=tmp_path) as daily:
        entry = await add(daily, "Kept")
    (tmp_path / "data/words.db").write_bytes(b"no database" * 1000)
    if is_folder:
        (tmp_path / "data/words.db").unlink()
        (tmp_path / "data/words.db/inside").mkdir(parents=True)
    async with run(DailyModule, folder=tmp_path) as daily:
        assert (await daily.get("/search", q="kept")).json()["entries"][0]["id"] == entry["id"]
        assert await texts(daily, date=DAY) == ["Kept"]


async def test_what_other_modules_and_agents_use(daily: Running) -> None:
    created = await daily.interface("JournalInterface", "create", content="From a letter", date=DAY)
    assert (created["path"], created["content"]) == (FILE, "From a letter")
    assert await daily.interface("JournalInterface", "get", entry_id=created["id"]) == created
    assert await daily.interface("JournalInterface", "get", entry_id="para:daily:000000000000") is None
    assert await daily.interface("JournalInterface", "entries_of", date=DAY) == [created]
    assert await daily.interface("JournalInterface", "search", query="letter", date_from=DAY) == [created]
    assert await daily.interface("JournalInterface", "get_recent_entries", limit=3) == [created]
    assert (await daily.application.resolve(created["id"]))["content"] == "From a letter"
    now = datetime.datetime(2025, 3, 5, 23, 59)
    daily.module.journal.clock = lambda: now
    assert "By an agent" in await daily.tool("daily-create", content="By an agent")
    assert "By an agent" in await daily.tool("daily-today")
    assert "From a letter" in await daily.tool("daily-search", query="lett", date_from=DAY)
    today = (await daily.get("/today")).json()
    assert [entry["content"] for entry in today["entries"]] == ["By an agent"]
    assert today["date"] == "2025-03-05"
    now += datetime.timedelta(minutes=1)
    assert (await daily.get("/today")).json() == {"date": "2025-03-06", "entries": []}


async def test_a_removed_entry_comes_back_where_it_stood_with_its_id_and_fields(daily: Running) -> None:
    first, second = await add(daily, "First"), await add(daily, "Second", title="A title")
    await add(daily, "Third")
    before = (daily.vault / FILE).read_text()
    assert (await daily.delete(f"/entries/{second['id']}")).status == 200
    await daily.put(f"/entries/{first['id']}", {"content": "First, changed since"})
    await add(daily, "Fourth")
    back = await daily.post(f"/entries/{second['id']}/restore", {"date": DAY})
    assert back.status == 200, back.text
    assert (back.json()["id"], back.json()["title"], back.json()["fields"]) == (
        second["id"],
        "A title",
        second["fields"],
    )
    assert await texts(daily, date=DAY) == ["First, changed since", "Second", "Third", "Fourth"]
    assert before.partition("# ")[2].partition("# ")[2] in (daily.vault / FILE).read_text()
    await daily.module.journal.publisher.settled()
    created = [data["entry_id"] for name, data in daily.published if name == "daily.entry.created"]
    assert created.count(second["id"]) == 2
    again = await daily.post(f"/entries/{second['id']}/restore", {"date": DAY})
    assert again.status == 409, again.text


@pytest.mark.parametrize("entry", ["para:daily:aaaaaaaaaaaa", "nonsense"])
async def test_what_was_never_there_is_not_brought_back(daily: Running, entry: str) -> None:
    await add(daily, "First")
    before = (daily.vault / FILE).read_bytes()
    assert (await daily.post(f"/entries/{entry}/restore", {"date": DAY})).status == 404
    assert (await daily.post(f"/entries/{entry}/restore", {"date": "yesterday"})).status == 422
    assert (daily.vault / FILE).read_bytes() == before


async def test_days_with_entries_are_counted(daily: Running) -> None:
    await add(daily, "One")
    gone = await add(daily, "Two")
    await add(daily, "Elsewhere", date="2025-04-30")
    await add(daily, "Too late", date="2025-05-01")
    query = {"from": "2025-03-01", "to": "2025-04-30"}
    days = [{"date": DAY, "entries": 2}, {"date": "2025-04-30", "entries": 1}]
    assert (await daily.get("/days", **query)).json() == {"days": days}
    await daily.delete(f"/entries/{gone['id']}")
    assert (await daily.get("/days", **query)).json()["days"][0] == {"date": DAY, "entries": 1}
    assert (await daily.get("/days", **{"from": "2025-03"})).status == 422


async def test_a_change_is_made_on_the_version_that_was_seen_or_not_at_all(daily: Running) -> None:
    entry = await add(daily, "First")
    changed = await daily.put(f"/entries/{entry['id']}", {"content": "Second", "expected_version": entry["version"]})
    assert changed.json()["version"] != entry["version"]
    late = await daily.put(f"/entries/{entry['id']}", {"content": "Third", "expected_version": entry["version"]})
    assert (late.status, late.json()["key"]) == (409, "entry_changed")
    assert await texts(daily, date=DAY) == ["Second"]


async def test_an_entry_has_its_time_of_writing_where_it_comes_later(daily: Running) -> None:
    daily.module.journal.clock = lambda: datetime.datetime(2025, 3, 4, 18, 0)
    morning = datetime.datetime(2025, 3, 4, 7, 5).astimezone().isoformat()
    assert (await add(daily, "Early", written_at=morning))["time"] == "07:05"
    ahead = datetime.datetime(2031, 1, 1).astimezone().isoformat()
    assert (await add(daily, "By a clock that is wrong", written_at=ahead))["time"] == "18:00"
    for text in ("yesterday", "2025-03-04T07:05", "0001-01-01T00:00:00+14:00"):
        refused = await daily.post("/entries", {"content": "Never", "date": DAY, "written_at": text})
        assert refused.status == 422, text
    assert await texts(daily, date=DAY) == ["Early", "By a clock that is wrong"]
