"""Recordings, reflections, and what Brain knows of entries."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime

import pytest
from module import DailyModule

from parachute.core.interfaces import Context, Entity, EntityType, Mention
from parachute.core.testing import Running, run

DAY = "2025-03-04"


@pytest.fixture
async def daily() -> AsyncIterator[Running]:
    async with run(DailyModule) as running:
        yield running


class FakeBrain:
    """Knows Kevin for certain, and LVB perhaps."""

    def __init__(self) -> None:
        self.links: list[tuple[str, str]] = []

    async def search(self, query: str, type: str | None = None, limit: int = 20) -> list[Entity]:
        return []

    async def resolve(self, text: str) -> str | None:
        return None

    async def get(self, para_id: str) -> Entity | None:
        return None

    async def link(self, source_id: str, para_id: str, confidence: float = 1.0) -> None:
        self.links.append((source_id, para_id))

    async def suggest(self, text: str) -> list[Mention]:
        mentions = [Mention("LVB", 0.8, "para:brain:bbbbbbbbbbbb"), Mention("prompts", 0.95)]
        return [*mentions, Mention("Kevin", 0.9, "para:brain:aaaaaaaaaaaa")] if "Kevin" in text else mentions

    async def types(self) -> list[EntityType]:
        return []

    async def context(self, topic: str) -> Context:
        return Context("")


async def test_a_recording_is_kept_and_linked(daily: Running) -> None:
    data = bytes(range(256)) * 5000
    answer = await daily.post("/assets/voice%20note.m4a", data, date=DAY)
    assert answer.json() == {
        "path": f"assets/{DAY}/voice_note.m4a",
        "vault_path": f"Daily/assets/{DAY}/voice_note.m4a",
        "size": len(data),
    }
    path = answer.json()["path"]
    again = await daily.post("/assets/voice%20note.m4a", b"other", date=DAY)
    assert again.json()["path"] != path
    entry = await daily.post("/entries", {"audio_path": path, "duration": 12, "date": DAY})
    assert (entry.json()["type"], entry.json()["audio_path"]) == ("voice", f"Daily/{path}")
    text = (daily.vault / f"Daily/journals/{DAY}.md").read_text()
    assert f"    type: voice\n    audio: {path}\n    duration: 12\n" in text
    await daily.put(f"/entries/{entry.json()['id']}", {"content": "What I said"})
    await daily.module.journal.publisher.settled()
    assert daily.published[0][1]["audio_path"] == f"Daily/{path}"
    whole = await daily.get(f"/{path}")
    assert (whole.status, whole.body, whole.headers["content-type"][:6]) == (200, data, "audio/")
    for header, status, expected in (
        ("bytes=0-9", 206, data[:10]),
        ("bytes=1279990-", 206, data[-10:]),
        ("bytes=-10", 206, data[-10:]),
        ("bytes=5-99999999", 206, data[5:]),
        ("bytes=99999999-", 416, b""),
        ("bytes=-0", 416, b""),
        ("bytes=9-1", 416, b""),
        ("lines=1-2", 200, data),
    ):
        part = await daily.request("GET", f"/{path}", headers={"range": header})
        assert (part.status, part.body) == (status, expected), header


async def test_recordings_of_one_name_at_the_same_time_are_both_kept(daily: Running) -> None:
    bodies = [bytes([number]) * 300_000 for number in range(5)]
    answers = await asyncio.gather(*(daily.post("/assets/note.m4a", body, date=DAY) for body in bodies))
    kept = [(daily.vault / answer.json()["vault_path"]).read_bytes() for answer in answers]
    assert kept == bodies


async def test_assets_lead_nowhere_else(daily: Running) -> None:
    (daily.vault / "secret").write_text("secret")
    for path in (
        "/assets/../secret",
        "/assets/..%2f..%2fsecret",
        "/assets/.hidden",
        "/assets/x.key",
        "/assets/none.wav",
    ):
        assert (await daily.get(path)).status in (403, 404, 422), path
    for name in ("..", "...", "server.key", "_"):
        assert (await daily.post(f"/assets/{name}", b"x")).status in (403, 422), name
    daily.module.journal.clock = lambda: datetime(2025, 3, 4, 23, 59)
    stored = await daily.post("/assets/..%2F..%2F.bashrc", b"x")
    assert stored.json()["path"] == "assets/2025-03-04/_.._.bashrc"
    page = await daily.post("/assets/page.html", b"<script>", date=DAY)
    shown = await daily.get(f"/{page.json()['path']}")
    assert shown.headers["content-disposition"] == "attachment"


async def test_reflections(daily: Running) -> None:
    assert (await daily.get(f"/reflections/{DAY}")).status == 404
    for content in ("First", "Second", "Second"):
        assert (await daily.put(f"/reflections/{DAY}", {"content": content})).status == 200
    assert (await daily.get(f"/reflections/{DAY}")).json()["content"] == "Second\n"
    assert (await daily.get("/reflections")).json()["reflections"] == [
        {"date": DAY, "path": f"Daily/reflections/{DAY}.md"}
    ]
    assert (await daily.put("/reflections/..%2Fx", {"content": "x"})).status == 422
    (version,) = (await daily.get("/versions")).json()["versions"]
    assert (await daily.get(f"/versions/{version['id']}")).text == "First\n"
    await daily.module.journal.publisher.settled()
    assert daily.published[0] == (
        "daily.reflection.completed",
        {"date": DAY, "path": f"Daily/reflections/{DAY}.md"},
    )


async def test_an_entry_is_linked_with_what_it_mentions_for_certain() -> None:
    brain = FakeBrain()
    async with run(DailyModule, interfaces={"BrainInterface": brain}) as daily:
        entry = (await daily.post("/entries", {"content": "Met Kevin about LVB.", "date": DAY})).json()
        assert brain.links == []
        for _ in range(2):  # events may come twice
            await daily.emit("daily.entry.created", entry_id=entry["id"], content="Met Kevin about LVB.")
        assert set(brain.links) == {(entry["id"], "para:brain:aaaaaaaaaaaa")}
        found = (await daily.get(f"/entries/{entry['id']}")).json()
        assert found["mentions"] == ["para:brain:aaaaaaaaaaaa"]
        path = daily.vault / f"Daily/journals/{DAY}.md"
        assert "    mentions: ['para:brain:aaaaaaaaaaaa']\n" in path.read_text()
        await daily.delete(f"/entries/{entry['id']}")
        await daily.emit("daily.entry.updated", entry_id=entry["id"])


async def test_without_brain_an_event_is_taken_and_nothing_changes(daily: Running) -> None:
    entry = (await daily.post("/entries", {"content": "Met Kevin.", "date": DAY})).json()
    before = (daily.vault / f"Daily/journals/{DAY}.md").read_bytes()
    await daily.emit("daily.entry.created", entry_id=entry["id"], content="Met Kevin.")
    assert (daily.vault / f"Daily/journals/{DAY}.md").read_bytes() == before


async def test_versions_are_bounded(daily: Running) -> None:
    for number in range(60):
        await daily.put(f"/reflections/{DAY}", {"content": f"Number {number}"})
    versions = (await daily.get("/versions")).json()["versions"]
    assert len(versions) == 50
    kept = list((daily.core.data / "versions").iterdir())
    assert len(kept) == 50
    small = daily.module.versions
    small._limit = 200
    await daily.put(f"/reflections/{DAY}", {"content": "The last"})
    versions = (await daily.get("/versions")).json()["versions"]
    assert 1 <= len(versions) < 15
    assert (await daily.get(f"/versions/{versions[0]['id']}")).text == "Number 59\n"


async def test_what_was_said_becomes_the_text_and_nothing_of_the_owners_is_replaced(daily: Running) -> None:
    path = (await daily.post("/assets/voice.m4a", b"sound", date=DAY)).json()["path"]
    entry = (await daily.post("/entries", {"audio_path": path, "date": DAY})).json()["id"]

    async def said(text: str, **more: str) -> bool:
        written: bool = await daily.interface("JournalInterface", "transcribed", entry_id=entry, text=text, **more)
        return written

    assert await said("Guten Morgen.", language="de")
    found = (await daily.get(f"/entries/{entry}")).json()
    assert (found["content"], found["fields"]["language"]) == ("Guten Morgen.", "de")
    # Told twice it is written once; another text goes over ours alone.
    assert await said("Guten Morgen.")
    assert not await said("Good morning.")
    assert await said("Good morning.", replaced="Guten Morgen.")
    await daily.put(f"/entries/{entry}", {"content": "My own words"})
    assert not await said("Good night.", replaced="Good morning.")
    assert (await daily.get(f"/entries/{entry}")).json()["content"] == "My own words"
    assert not await daily.interface("JournalInterface", "transcribed", entry_id="para:daily:000000000000", text="x")


async def test_a_smaller_copy_is_given_where_it_is_asked_for_and_there(daily: Running) -> None:
    path = (await daily.post("/assets/pier.heic", b"whole", date=DAY)).json()["path"]
    assert (await daily.get(f"/{path}", size="small")).body == b"whole"
    small = b"\xff\xd8\xff small"
    assert (await daily.put(f"/small/{path}", small)).json() == {"size": len(small)}
    found = await daily.get(f"/{path}", size="small")
    assert (found.body, found.headers["content-type"]) == (small, "image/jpeg")
    assert (await daily.get(f"/{path}")).body == b"whole"
    for place, body, status in (
        (path, b"<svg>", 422),
        (path, small + bytes(2 << 20), 413),
        (f"assets/{DAY}/other.png", small, 404),
        (f"journals/{DAY}.md", small, 404),
        ("../../secret.jpg", small, 422),
        (f"assets/.small/{DAY}/pier.heic.jpg", small, 403),
    ):
        assert (await daily.put(f"/small/{place}", body)).status == status, place
    assert (await daily.get(f"/{path}", size="small")).body == small
