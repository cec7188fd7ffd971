"""A later export adds to the conversations that are here, also after a crash; an undo takes that back."""

from collections.abc import Sequence
from typing import Any

import pytest

from parachute.base.clock import now
from parachute.chat.imports.arriving import Arriving
from parachute.chat.imports.attached import AttachedFiles
from parachute.chat.imports.folders import ImportFolders
from parachute.chat.imports.growing import Growing
from parachute.chat.imports.models import Import
from parachute.chat.sessions.importing import ImportedSessions
from parachute.core.sessions import _lines

from .conftest import SessionStorage, text_of

JANUARY, FEBRUARY = "0000000a", "0000000b"
TEXTS = ["How long does varnish dry?", "A day.", "And in winter?", "Three days."]


class Imports:
    """Server with what it keeps, and imports as a module sends them."""

    def __init__(self, storage: SessionStorage) -> None:
        self.storage = storage
        self.sessions = ImportedSessions(storage.service, storage.store)
        self.folders = ImportFolders(storage.vault)
        self.growing = Growing(AttachedFiles(storage.vault, self.folders, self.sessions.transcripts), self.sessions)

    async def bring(
        self, import_id: str, count: int, *, store: bool = True, files: Sequence[str] = (), **head: Any
    ) -> list[str]:
        """Bring so many messages of the conversation `a`."""
        self.folders.clear(import_id)
        self.folders.make(import_id)
        under_way = Import(import_id, "imports", "user", "x", False, True, False, False)
        arriving = Arriving(self.folders, under_way)
        chat = {"session": "a", "source": "chatgpt", "original": "c", "messages": count, "title": "Varnish", **head}
        said = [
            {
                "role": "assistant" if n % 2 else "user",
                "text": text,
                "id": f"m{n}",
                "files": files if n == count - 1 else (),
            }
            for n, text in enumerate(TEXTS[:count])
        ]
        async for line in _lines([(chat, said)]):
            arriving.take(line)
        arriving.end()
        if head.get("grows"):
            if not store:
                self.folders.grow_transcript(import_id, arriving.staged["a"], "a")
                return []
            return await self.growing.grow(import_id, arriving, {"a"})
        self.folders.place_transcript(import_id, arriving.staged["a"], "a")
        return await self.sessions.add(arriving.sessions)

    async def texts(self) -> list[str]:
        """The messages as they are shown."""
        return [text_of(message) for message in await self.storage.service.messages("a")]

    async def finds(self, word: str) -> bool:
        """Return whether the search finds a word."""
        return b'"a"' in (await self.storage.service.listing.page(search=word))[1]


@pytest.fixture
def imports(storage: SessionStorage) -> Imports:
    """The server's side of imports, in one vault."""
    return Imports(storage)


async def test_it_grows_is_found_and_is_as_before_after_an_undo(imports: Imports) -> None:
    service = imports.storage.service
    assert await imports.bring(JANUARY, 2, updated="2026-01-01T00:00:00.000Z") == ["a"]
    grown: dict[str, Any] = {"grows": 2, "updated": "2026-02-01T00:00:00.000Z", "title": "Varnish in winter"}
    assert await imports.bring(FEBRUARY, 4, **grown) == ["a"]
    found = await service.get("a")
    assert (found.message_count, found.updated_at, found.title) == (4, "2026-02-01T00:00:00.000Z", "Varnish in winter")
    assert await imports.texts() == TEXTS
    assert imports.sessions.is_untouched(found)
    assert await imports.finds("winter")
    brought = await imports.sessions.brought("a")
    assert brought is not None
    assert [each.id for each in brought.messages] == ["m0", "m1", "m2", "m3"]
    assert await imports.growing.take_back(FEBRUARY) == (1, [])
    found = await service.get("a")
    assert (found.message_count, found.updated_at) == (2, "2026-01-01T00:00:00.000Z")
    assert await imports.texts() == TEXTS[:2]
    assert not await imports.finds("Three")
    assert await imports.growing.take_back(FEBRUARY) == (0, [])


async def test_one_that_somebody_has_gone_on_with_stays(imports: Imports) -> None:
    await imports.bring(JANUARY, 2)
    await imports.bring(FEBRUARY, 3, grows=1)
    session = await imports.storage.service.get("a")
    session.message_count += 1
    await imports.storage.service.save(session)
    assert await imports.bring("0000000c", 4, grows=1) == []
    assert await imports.texts() == TEXTS[:3]
    assert await imports.growing.take_back(FEBRUARY) == (0, ["Varnish"])
    assert await imports.texts() == TEXTS[:3]
    brought = await imports.sessions.brought("a")
    assert brought is not None
    assert not brought.is_untouched


async def test_what_no_import_brought_or_came_from_elsewhere_does_not_grow(imports: Imports) -> None:
    await imports.bring(JANUARY, 2)
    assert await imports.bring(FEBRUARY, 4, grows=2, source="claude") == []
    session = await imports.storage.service.get("a")
    session.metadata = {}
    await imports.storage.service.save(session)
    assert await imports.bring(FEBRUARY, 4, grows=2) == []
    assert await imports.sessions.brought("a") is None
    assert await imports.sessions.brought("nothing") is None


async def test_what_was_placed_and_not_stored_is_as_before(imports: Imports) -> None:
    await imports.bring(JANUARY, 2, updated=now())
    await imports.bring(FEBRUARY, 4, grows=2, store=False)
    assert await imports.growing.settle(FEBRUARY) == 0
    assert await imports.texts() == TEXTS[:2]
    await imports.bring("0000000c", 4, grows=2)
    assert await imports.growing.settle("0000000c") == 1
    assert await imports.texts() == TEXTS


async def test_a_later_import_is_left_alone_when_an_undo_of_an_earlier_one_was_interrupted(imports: Imports) -> None:
    await imports.bring(JANUARY, 2)
    await imports.bring(FEBRUARY, 3, grows=1)
    await imports.bring("0000000c", 4, grows=1)
    assert await imports.growing.settle(FEBRUARY) == 1
    assert await imports.texts() == TEXTS


@pytest.mark.parametrize("is_placed", [True, False])
async def test_an_undo_that_is_killed_comes_to_its_end_later(imports: Imports, is_placed: bool) -> None:
    def die() -> None:
        if is_placed:
            imports.folders.put_back(FEBRUARY, "a")
        raise KeyboardInterrupt  # what is done for an error is not done

    for again in (imports.growing.settle, imports.growing.take_back):
        await imports.bring(JANUARY, 2)
        await imports.bring(FEBRUARY, 4, grows=2)
        with pytest.raises(KeyboardInterrupt):
            await imports.sessions.shrink(FEBRUARY, "a", die)
        await again(FEBRUARY)
        assert await imports.texts() == TEXTS[:2]
        found = await imports.storage.service.get("a")
        assert found.message_count == 2
        assert imports.sessions.is_untouched(found)
        assert not await imports.finds("Three")
        assert await imports.bring(FEBRUARY, 4, grows=2) == ["a"]
        await imports.storage.service.delete("a")


async def test_a_fingerprint_is_that_of_what_is_here(imports: Imports) -> None:
    await imports.bring(JANUARY, 2, fingerprint="two")
    assert await imports.sessions.fingerprints() == {"a": "two"}
    await imports.bring(FEBRUARY, 4, grows=2, fingerprint="four")
    assert await imports.sessions.fingerprints() == {"a": "four"}
    await imports.growing.take_back(FEBRUARY)
    assert await imports.sessions.fingerprints() == {"a": "two"}


async def test_nothing_is_left_of_one_that_was_deleted(imports: Imports) -> None:
    await imports.bring(JANUARY, 2)
    await imports.bring(FEBRUARY, 4, grows=2)
    kept = imports.folders.root / FEBRUARY / "before" / "a"
    assert kept.exists()
    await imports.storage.service.delete("a")
    assert not kept.exists()
    kept.write_text("as an interrupted deletion leaves it")
    assert await imports.growing.settle(FEBRUARY) == 0
    assert not kept.exists()
    assert imports.storage.service.transcripts.imported("a") is None


async def test_one_that_cannot_be_stored_is_as_before(imports: Imports, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise OSError("the disk is full")

    await imports.bring(JANUARY, 2)
    with monkeypatch.context() as patched:
        patched.setattr(imports.storage.store, "update", fail)
        with pytest.raises(OSError, match="full"):
            await imports.bring(FEBRUARY, 4, grows=2)
    assert await imports.texts() == TEXTS[:2]
    assert await imports.bring(FEBRUARY, 4, grows=2) == ["a"]
    assert await imports.texts() == TEXTS


async def test_an_undo_brings_the_name_back_unless_somebody_gave_another(imports: Imports) -> None:
    for name, after in ((None, "Varnish"), ("Mine", "Mine")):
        await imports.bring(JANUARY, 2)
        await imports.bring(FEBRUARY, 4, grows=2, title="Varnish in winter")
        session = await imports.storage.service.get("a")
        session.title = name or session.title
        await imports.storage.service.save(session)
        assert await imports.growing.take_back(FEBRUARY) == (1, [])
        assert (await imports.storage.service.get("a")).title == after
        await imports.storage.service.delete("a")


async def test_files_of_what_was_placed_and_not_stored_are_gone(imports: Imports) -> None:
    folder = imports.storage.vault.root / ".parachute" / "attachments" / "a"
    await imports.bring(JANUARY, 2, updated=now())
    imports.folders.make(FEBRUARY)
    under_way = Import(FEBRUARY, "imports", "user", "x", False, True, False, False)
    attached = AttachedFiles(imports.storage.vault, imports.folders, imports.sessions.transcripts)
    with imports.folders.stage(FEBRUARY, 9) as file:
        file.write(b"drawn")
    attached.stage(under_way, "a", "pond.png", 9)
    attached.place(FEBRUARY, "a")
    assert (folder / "pond.png").read_bytes() == b"drawn"
    (folder / "own.png").write_bytes(b"of a message that is just being sent")
    await imports.bring(FEBRUARY, 4, grows=2, store=False, files=["pond.png"])
    assert await imports.growing.settle(FEBRUARY) == 0
    assert [path.name for path in folder.iterdir()] == ["own.png"]


async def test_one_that_grew_is_found_when_the_computer_ended_before_it_was_in_the_search(imports: Imports) -> None:
    await imports.bring(JANUARY, 2, updated=now())
    words = await imports.storage.store.words.of("a")
    await imports.bring(FEBRUARY, 4, grows=2)
    await imports.storage.store.words.replace("a", words)
    assert not await imports.finds("winter")
    assert await imports.growing.settle(FEBRUARY) == 1
    assert await imports.finds("winter")


async def test_only_what_nobody_has_continued_or_changed_is_as_brought(imports: Imports) -> None:
    service = imports.storage.service
    await imports.bring(JANUARY, 2, archived=True)
    await imports.bring(FEBRUARY, 4, grows=2, title="Varnish in winter")
    assert await imports.sessions.is_as_brought(await service.get("a"))
    await service.delete("a")
    changes = {"title": "Mine", "pinned": True, "archived": True, "workspace_id": "boat", "model": "opus"}
    for name, value in changes.items():
        await imports.bring(JANUARY, 2)
        session = await service.get("a")
        setattr(session, name, value)
        await service.save(session)
        (stored,) = await imports.sessions.brought_by(JANUARY)
        assert not await imports.sessions.is_as_brought(stored), name
        await service.delete("a")
