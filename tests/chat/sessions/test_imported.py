"""Sessions that an import brought: their transcript before what is said here, their end told to nobody, their row made anew."""

import json
from typing import Any

import pytest

from parachute.base.clock import now
from parachute.chat.sessions.ending import SessionEnding
from parachute.chat.sessions.endings import Endings
from parachute.chat.sessions.importing import ImportedSessions
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.rebuilding import Rebuilding
from parachute.events.bus.service import Events
from tests.support.errors import raises

from .conftest import SessionStorage, text_of

BROUGHT = {"id": "1f", "messages": 2}


def event(role: str, text: str) -> str:
    """One line of a transcript."""
    return json.dumps({"type": role, "message": {"role": role, "content": [{"type": "text", "text": text}]}})


def bring(storage: SessionStorage, session: str, *texts: str, **origin: Any) -> None:
    """Put what an import brought of a session in its place."""
    folder = storage.vault.private_folder(".parachute", "imports", "transcripts")
    head = {"type": "import", "source": "claude", "original": "o", "title": "Brought", "messages": len(texts), **origin}
    lines = [json.dumps(head), *(event("assistant" if n % 2 else "user", text) for n, text in enumerate(texts))]
    (folder / f"{session}.imported.jsonl").write_text("\n".join(lines) + "\n")


def say(storage: SessionStorage, session: str, *texts: str) -> None:
    """Write the transcript of what was said here."""
    storage.transcripts.make_folder(session)
    lines = [event("assistant" if n % 2 else "user", text) for n, text in enumerate(texts)]
    (storage.transcripts.folder(session) / f"{session}.jsonl").write_text("\n".join(lines) + "\n")


def row(identifier: str, **columns: Any) -> Session:
    """A session as an import stores it."""
    moment = columns.pop("at", "2023-01-01T00:00:00.000Z")
    return Session(
        identifier, moment, moment, title="Brought", message_count=2, metadata={"import": BROUGHT}, **columns
    )


@pytest.fixture
def imported(storage: SessionStorage) -> ImportedSessions:
    """The service of one vault."""
    return ImportedSessions(storage.service, storage.store)


async def test_what_was_brought_comes_before_what_is_said_here(
    storage: SessionStorage, imported: ImportedSessions
) -> None:
    bring(storage, "a", "One.", "Two.")
    assert await imported.add([row("a")]) == ["a"]
    assert await imported.add([row("a")]) == []
    assert [text_of(message) for message in await storage.service.messages("a")] == ["One.", "Two."]
    say(storage, "a", "Three.", "Four.")
    assert [text_of(message) for message in await storage.service.messages("a")] == [
        *("One.", "Two.", "Three.", "Four.")
    ]
    last = json.loads(await storage.service.transcript("a", full=False, segment=None))
    assert [each["index"] for each in last["segments"]] == [0, 1]
    assert [each["loaded"] for each in last["segments"]] == [False, True]
    assert "Three." in json.dumps(last["events"])
    assert "One." not in json.dumps(last["events"])
    for segment, text in ((0, "One."), (1, "Three.")):
        part = json.loads(await storage.service.transcript("a", full=False, segment=segment))
        assert (len(part["events"]), text in json.dumps(part["events"])) == (2, True)
    for segment in (2, 99):
        assert json.loads(await storage.service.transcript("a", full=False, segment=segment))["events"] == []
    assert len(json.loads(await storage.service.transcript("a", full=True, segment=None))["events"]) == 4
    await storage.service.delete("a")
    assert not [path for path in storage.vault.root.rglob("a*") if path.name.startswith("a.")]


async def test_the_search_finds_it_and_nothing_takes_it_for_words_of_here(
    storage: SessionStorage, imported: ImportedSessions
) -> None:
    bring(storage, "a", "A marmalade question.", "An answer.")
    await imported.add([row("a")])
    for _ in range(2):
        assert b'"a"' in (await storage.service.listing.page(search="marmalade"))[1]
        assert await storage.service.search_index.words("a") == ""
        await storage.service.search_index.rebuild()


@pytest.mark.parametrize("at", ["2023-01-01T00:00:00.000Z", None])
async def test_nobody_hears_that_it_ended(storage: SessionStorage, imported: ImportedSessions, at: str | None) -> None:
    told: list[str] = []

    async def hear(name: str, data: dict[str, Any]) -> None:
        told.append(name)

    events = Events(storage.audit)
    events.subscribe(hear)
    ending = SessionEnding(Endings(storage.database), events, 0.0, lambda _: False)
    await Endings(storage.database).set_mark("2022-01-01T00:00:00.000Z")
    await imported.add([row("a", at=at or now()), row("b", at=at or now())])
    await ending.sweep()
    await storage.service.delete("b")
    await ending.sweep()
    assert told == []


async def test_what_is_direct_or_has_no_id_is_not_stored(storage: SessionStorage, imported: ImportedSessions) -> None:
    for wrong in (row("a", trust_level="direct"), row("../a")):
        with raises("invalid_session_id"):
            await imported.add([row("good"), wrong])
    assert await storage.service.find("good") is None


async def test_a_list_that_was_lost_has_it_again(storage: SessionStorage) -> None:
    bring(storage, "a", "One.", "Two.", created="2023-01-01T00:00:00.000Z", archived=True)
    bring(storage, "b", "One.", "Two.", source=["x"], title=7, messages="many", created=None, labels="?")
    (storage.vault.state / "imports" / "transcripts" / "c.imported.jsonl").write_text("[]\n")
    say(storage, "b", "Three.")
    await Rebuilding(storage.service, storage.store, storage.trust).run()
    found = await storage.service.get("a")
    assert (found.title, found.source, found.original_id, found.archived) == ("Brought", "claude", "o", True)
    assert (found.created_at, found.message_count, found.trust_level) == ("2023-01-01T00:00:00.000Z", 2, "sandboxed")
    damaged = await storage.service.get("b")
    assert (damaged.source, damaged.message_count) == ("parachute", 1)
    assert await storage.service.find("c") is None


async def test_a_link_in_its_place_is_not_read(storage: SessionStorage, imported: ImportedSessions) -> None:
    bring(storage, "real", "A secret.")
    folder = storage.vault.state / "imports" / "transcripts"
    (folder / "a.imported.jsonl").symlink_to(folder / "real.imported.jsonl")
    await imported.add([row("a")])
    assert await storage.service.messages("a") == []
    assert storage.transcripts.origin("a") is None
