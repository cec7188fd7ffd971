"""Changes of sessions: what they do, what they refuse, and that none is lost to another."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError
from parachute.chat.sessions.models import Session
from parachute.security.trust_levels import normalize_trust_level

from .conftest import SessionStorage

MOMENT = "2026-01-01T00:00:00.000Z"


async def configure(storage: SessionStorage, session: str, admin: bool = True, **changes: Any) -> Session:
    return await storage.service.configure(session, changes, approved_by="owner", admin=admin)


async def test_what_configuration_changes(storage: SessionStorage) -> None:
    await storage.add("a", workspace_id="garden")
    await configure(
        storage,
        "a",
        trustLevel="full",
        configOverrides={"model": "claude-haiku-4-5"},
        responseMode="mention_only",
        mentionPattern="@bot",
        workspaceId="",
    )
    found = await storage.service.get("a")
    assert (found.trust_level, found.model, found.workspace_id) == ("direct", "claude-haiku-4-5", None)
    assert found.metadata == {"bot_settings": {"response_mode": "mention_only", "mention_pattern": "@bot"}}
    assert await storage.service.level(found) == "direct"
    await configure(storage, "a", mentionPattern="", trustLevel="untrusted", configOverrides={"model": None})
    found = await storage.service.get("a")
    assert found.metadata["bot_settings"] == {"response_mode": "mention_only", "mention_pattern": None}
    assert (found.trust_level, found.model) == ("sandboxed", None)
    assert await storage.service.level(found) == "sandboxed"


async def test_a_session_has_another_name_and_is_found_by_that_alone(storage: SessionStorage) -> None:
    await storage.add("a", title="What is bread?")
    await storage.service.record_turn("a", texts=[("user", "And what of rye?")], mode="sandboxed")
    renamed = await configure(storage, "a", title="  Sourdough\nand more ")
    assert renamed.title == "Sourdough and more"
    for search, found in (("bread", False), ("sourdough", True), ("rye", True)):
        _, body = await storage.service.listing.page(search=search)
        assert [each["title"] for each in json.loads(body)["sessions"]] == ["Sourdough and more"] * found
    assert (await configure(storage, "a", title=None)).title == "Sourdough and more"


async def test_what_cannot_be_changes_nothing(storage: SessionStorage) -> None:
    before = await storage.add("a")
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"title": ""}, "title"),
        ({"title": " \n"}, "title"),
        ({"trustLevel": "root"}, "trustLevel"),
        ({"trustLevel": ""}, "trustLevel"),
        ({"workspaceId": "nowhere"}, "workspaceId"),
        ({"responseMode": "sometimes"}, "responseMode"),
        ({"responseMode": ""}, "responseMode"),
        ({"configOverrides": {"temperature": 1}}, "configOverrides"),
        ({"configOverrides": {"model": 3}}, "configOverrides.model"),
        ({"configOverrides": {"model": "\ud800"}}, "configOverrides.model"),
        ({"configOverrides": {"model": "x" * 101}}, "configOverrides.model"),
    )
    for changes, mention in refused:
        with pytest.raises(ParachuteError, match=mention):
            # Also what stands beside it and would be right.
            await configure(storage, "a", **{"trustLevel": "direct", "mentionPattern": "@x", **changes})
        found = await storage.service.get("a")
        assert found == before
        assert await storage.trust.direct_sessions() == set()


async def test_a_session_of_a_bot_is_raised_by_an_admin_only(storage: SessionStorage) -> None:
    await storage.add("a", source="telegram")
    with pytest.raises(NotAllowed):
        await configure(storage, "a", admin=False, trustLevel="direct")
    assert (await storage.service.get("a")).trust_level == "sandboxed"
    assert await storage.trust.direct_sessions() == set()
    assert (await configure(storage, "a", admin=True, trustLevel="direct")).trust_level == "direct"


async def test_other_changes_approve_nothing(storage: SessionStorage) -> None:
    await storage.add("a")
    async with storage.database.transaction() as connection:
        await connection.execute("UPDATE sessions SET trust_level = 'direct'")
    await configure(storage, "a", responseMode="mention_only")
    assert await storage.service.level(await storage.service.get("a")) == "sandboxed"


async def test_activation_ends_the_waiting(storage: SessionStorage) -> None:
    await storage.add("a", metadata={"pending_initialization": True, "first_message": "Hi"})
    await storage.service.activate("a", {"trustLevel": "direct"}, approved_by="owner", admin=True)
    found = await storage.service.get("a")
    assert found.metadata == {"first_message": "Hi"}
    assert found.trust_level == "direct"


async def test_an_id_that_is_taken(storage: SessionStorage) -> None:
    await storage.add("a")
    with pytest.raises(Conflict):
        await storage.add("a", trust_level="direct")
    # The failed one approved nothing for the session that has the id.
    assert await storage.trust.direct_sessions() == set()
    session = Session("b", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", trust_level="direct")
    with pytest.raises(NotAllowed):
        await storage.service.create(session)
    assert await storage.service.find("b") is None


async def test_ids_that_would_be_paths(storage: SessionStorage) -> None:
    for identifier in ("", ".", "..", "../a", "a/b", "a" * 65, "a\0b", "ä", "a.jsonl", "a b"):
        with pytest.raises(InvalidInput):
            await storage.add(identifier)
        # A database that came from elsewhere may hold one all the same.
        async with storage.database.transaction() as connection:
            await connection.execute(
                "INSERT INTO sessions (id, created_at, updated_at, message_count, archived, source, trust_level, metadata, "
                "summary) VALUES (?, '', '', 0, 0, 'x', 'sandboxed', '{}', '{}')",
                (identifier,),
            )
        keep = storage.vault.root / "keep.txt"
        keep.write_text("kept")
        for attempt in (
            storage.service.get(identifier),
            storage.service.delete(identifier),
            storage.service.archive(identifier, True),
            storage.service.transcript(identifier, full=True, segment=None),
        ):
            with pytest.raises(NotFound):
                await attempt
        with pytest.raises(NotFound):
            storage.service.attachments(identifier)
        await storage.service.search_index.rebuild()
        assert keep.exists()


async def test_writers_at_the_same_time_lose_nothing(storage: SessionStorage) -> None:
    await storage.add("a")

    async def turn(number: int) -> None:
        await storage.service.record_turn("a", texts=[("user", f"word{number}"), ("assistant", "x")], mode="sandboxed")

    async def note(name: str) -> None:
        found = await storage.service.get("a")
        found.metadata[name] = name
        await storage.service.save(found)

    await asyncio.gather(
        *(turn(number) for number in range(10)),
        *(note(f"note{number}") for number in range(10)),
        storage.service.archive("a", True),
        configure(storage, "a", responseMode="mention_only"),
        configure(storage, "a", mentionPattern="@me"),
        configure(storage, "a", trustLevel="direct"),
    )
    found = await storage.service.get("a")
    assert found.message_count == 20
    assert found.archived is True
    assert found.trust_level == "direct"
    assert found.metadata.pop("bot_settings") == {"response_mode": "mention_only", "mention_pattern": "@me"}
    assert found.metadata == {f"note{number}": f"note{number}" for number in range(10)}
    assert (
        f'"messageCount":{found.message_count}'
        in (await storage.store.summaries(limit=1, offset=0, archived=True, search=None, workspace=None))[0]
    )


async def test_an_old_copy_overwrites_nothing(storage: SessionStorage) -> None:
    await storage.add("a", metadata={"kept": 1, "dropped": 2})
    old = await storage.service.get("a")
    await configure(storage, "a", configOverrides={"model": "m"}, responseMode="mention_only")
    await storage.service.archive("a", True)
    await storage.service.record_turn("a", texts=[("user", "x")], mode="direct")
    old.metadata["mine"] = 3
    del old.metadata["dropped"]
    old.title = "New"
    await storage.service.save(old)
    found = await storage.service.get("a")
    assert (found.model, found.archived, found.message_count, found.title) == ("m", True, 1, "New")
    assert found.metadata == {"kept": 1, "mine": 3, "bot_settings": {"response_mode": "mention_only"}}
    # What was saved once is not saved again over a later change.
    await storage.service.archive("a", False)
    old.metadata["again"] = 4
    await storage.service.save(old)
    assert (await storage.service.get("a")).archived is False


async def test_deleting_removes_everything(storage: SessionStorage) -> None:
    await storage.add("a", title="Secret", trust_level="direct")
    await storage.add("b", title="Kept")
    await storage.service.record_turn("a", texts=[("user", "secret words")], mode="direct")
    await storage.service.add_grant("a", "run:git *")
    path = storage.write_transcript("a", b"{}\n")
    other = storage.write_transcript("b", b"{}\n")
    (path.parent / "a").mkdir()
    (path.parent / "a" / "subagent.jsonl").write_text("{}")
    (path.parent / "out").symlink_to(other.parent)
    attachments = storage.service.attachments("a")
    attachments.mkdir(parents=True)
    (attachments / "picture.png").write_bytes(b"x")
    await storage.service.delete("a")
    assert not path.parent.exists()
    assert not attachments.exists()
    assert other.exists()
    for table in ("sessions", "words_of_session"):
        column = "id" if table == "sessions" else "session"
        assert not await storage.database.rows(f"SELECT 1 FROM {table} WHERE {column} = 'a'")
    assert [row[0] for row in await storage.database.rows("SELECT body FROM words")] == ["Kept"]
    assert await storage.trust.direct_sessions() == set()
    assert await storage.service.grants("a") == []
    with pytest.raises(NotFound):
        await storage.service.delete("a")
    # A turn that ends after that brings nothing back.
    assert await storage.service.record_turn("a", texts=[("user", "late")], mode="direct") is None
    await storage.service.save(Session("a", "x", "x"))
    assert await storage.service.find("a") is None
    assert len(await storage.database.rows("SELECT 1 FROM words")) == 1


async def test_a_vault_on_another_machine_keeps_its_sessions_sandboxed(storage: SessionStorage, tmp_path: Path) -> None:
    await storage.add("a", trust_level="direct")
    await storage.add("b")
    assert await storage.service.level(await storage.service.get("a")) == "direct"
    await storage.close()
    shutil.copytree(tmp_path / "vault", tmp_path / "moved")
    moved = await SessionStorage(tmp_path / "moved", tmp_path / "elsewhere").open()
    _, body = await moved.service.listing.page()
    assert body.count(b'"trustLevel":"sandboxed"') == 2
    for name in ("a", "b"):
        found = await moved.service.get(name)
        assert found.trust_level == "sandboxed"
        assert await moved.service.level(found) == "sandboxed"
    await moved.close()
    await storage.open()
    assert await storage.service.level(await storage.service.get("a")) == "direct"


async def test_a_row_that_claims_direct_is_sandboxed(storage: SessionStorage) -> None:
    await storage.add("a")
    async with storage.database.transaction() as connection:
        await connection.execute("UPDATE sessions SET trust_level = 'direct'")
    assert await storage.service.level(await storage.service.get("a")) == "sandboxed"
    await storage.service.start()
    assert (await storage.service.get("a")).trust_level == "sandboxed"


def test_words_of_trust() -> None:
    for word, level in (
        ("direct", "direct"),
        ("Trusted", "direct"),
        ("full", "direct"),
        ("vault", "direct"),
        ("sandboxed", "sandboxed"),
        ("UNTRUSTED", "sandboxed"),
    ):
        assert normalize_trust_level(word) == level, word


def test_unknown_words_of_trust() -> None:
    for word in ("", " direct", "root", "d\u0131rect", "none"):
        with pytest.raises(InvalidInput, match="trustLevel"):
            normalize_trust_level(word)


async def test_a_folder_a_workspace_and_people_are_what_this_machine_knows(storage: SessionStorage) -> None:
    await storage.add("own", working_directory="Projects/boat")
    await storage.add("bare")
    await storage.add("bot", source="telegram", linked_bot_platform="telegram")
    await storage.database.write(
        "UPDATE sessions SET working_directory = '~/Projects/app', workspace_id = 'wide', source = 'parachute', "
        "linked_bot_platform = NULL"
    )
    await storage.add_many([Session("new", MOMENT, MOMENT, working_directory="~/Projects/app", workspace_id="wide")])
    found = {name: await storage.service.get(name) for name in ("own", "bare", "bot", "new")}
    assert [each.working_directory for each in found.values()] == ["Projects/boat", None, None, None]
    assert {await storage.service.workspace(each) for each in found.values()} == {None}
    assert {each.workspace_id for each in found.values()} == {None}
    assert [each.from_outside for each in found.values()] == [False, False, True, False]
    assert {each.claimed_directory for each in found.values()} == {"~/Projects/app"}
    # What is said here is no change of what the vault says.
    await storage.service.save(found["new"])
    assert await storage.database.row("SELECT working_directory FROM sessions WHERE id = 'new'") == ("~/Projects/app",)


async def test_what_rows_said_before_this_was_kept_is_taken_once_of_what_began_here(storage: SessionStorage) -> None:
    await storage.add("here", working_directory="Projects/boat", workspace_id="garden")
    await storage.add_many([Session("elsewhere", MOMENT, MOMENT, working_directory="Projects/app")])
    for table in ("session_places", "session_workspaces"):
        await storage.trust_database.write(f"DELETE FROM {table}")
    await storage.service.start()
    here, elsewhere = [await storage.service.get(name) for name in ("here", "elsewhere")]
    assert (here.working_directory, here.workspace_id) == ("Projects/boat", "garden")
    assert elsewhere.working_directory is None
    await storage.database.write("UPDATE sessions SET working_directory = 'Secrets'")
    await storage.service.start()
    assert (await storage.service.get("here")).working_directory == "Projects/boat"
