"""Workspaces as they are made, changed and deleted, and what a restart and a copied vault make of them."""

import asyncio
import json
import stat
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import to_builtins
from pydantic import ValidationError

from parachute.base.errors import Conflict, NotFound, ParachuteError, Unavailable
from parachute.chat.workspaces.request import Changes, NewWorkspace
from parachute.sandbox.engines.limits import Limits
from tests.support.errors import raises

from .conftest import WorkspaceStorage

Reopen = Callable[..., Awaitable[WorkspaceStorage]]


async def test_everything_survives_a_restart(storage: WorkspaceStorage, reopened: Reopen) -> None:
    (storage.vault.root / "Projects" / "beds").mkdir(parents=True)
    made = await storage.create(
        "Garden plan",
        description=" Beds. ",
        default_trust_level="trusted",
        working_directory="Projects/beds",
        model="claude-haiku-4-5",
        capabilities={"mcps": ["brain", "brain"], "agents": "none"},
        memory_megabytes=1024,
        cpus=1.5,
        processes=300,
        git=[{"repository": "git@github.com:ada/garden.git", "access": "push"}, {"repository": "github.com/ada/beds"}],
    )
    granted = [
        {"repository": "github.com/ada/garden", "access": "push"},
        {"repository": "github.com/ada/beds", "access": "fetch"},
    ]
    assert to_builtins(made.git) == tuple(granted)
    assert (made.slug, made.description, made.default_trust_level) == ("garden-plan", "Beds.", "direct")
    assert (made.working_directory, made.capabilities.mcps) == ("Projects/beds", ("brain",))
    assert made.limits == Limits(1024, 1.5, 300)
    again = await reopened()
    assert again.workspaces.get("garden-plan") == made


async def test_changes_keep_the_slug_and_what_is_not_named(storage: WorkspaceStorage) -> None:
    (storage.vault.root / "Projects").mkdir()
    git = [{"repository": "github.com/ada/garden"}]
    await storage.create(working_directory="Projects", model="m", cpus=2, capabilities={"mcps": "none"}, git=git)
    changed = await storage.update("garden", name="House", description="Walls.")
    assert (changed.slug, changed.name, changed.working_directory, changed.model) == (
        "garden",
        "House",
        "Projects",
        "m",
    )
    assert (changed.limits.cpus, changed.capabilities.mcps, len(changed.git)) == (2.0, "none", 1)
    # The app sends every field, null to clear.
    cleared = await storage.update("garden", working_directory=None, model=None, capabilities=None, cpus=None, git=None)
    assert (cleared.working_directory, cleared.model, cleared.limits) == (None, None, Limits())
    assert (cleared.capabilities.mcps, cleared.git) == ("all", ())
    assert cleared.name == "House"
    assert (await storage.update("garden", default_trust_level="direct")).default_trust_level == "direct"
    assert (await storage.update("garden", description="Beds.")).default_trust_level == "direct"
    assert (await storage.update("garden", default_trust_level=None)).default_trust_level == "sandboxed"


async def test_a_folder_that_went_away_does_not_stand_in_the_way_of_other_changes(storage: WorkspaceStorage) -> None:
    folder = storage.vault.root / "Projects"
    folder.mkdir()
    await storage.create(working_directory="Projects")
    folder.rmdir()
    assert (await storage.update("garden", name="House", working_directory="Projects")).name == "House"
    with raises("no_folder", names="working_directory"):
        await storage.update("garden", working_directory="Elsewhere")


async def test_two_with_one_name(storage: WorkspaceStorage) -> None:
    done = await asyncio.gather(
        storage.create(), storage.create("garden"), storage.create("Garden!"), return_exceptions=True
    )
    conflicts = [each for each in done if isinstance(each, Conflict)]
    assert len(conflicts) == 1
    assert sorted(workspace.slug for workspace in storage.workspaces.all()) == ["garden", "garden-2"]
    with raises("name_taken"):
        await storage.update("garden-2", name="GARDEN")
    await storage.update("garden", name="GARDEN")


async def test_sessions_stay_and_never_wake_up_in_another_workspace(storage: WorkspaceStorage) -> None:
    await storage.create()
    session = await storage.add("a", workspace_id="garden")
    await storage.workspaces.delete("garden")
    kept = await storage.service.get("a")
    assert kept.workspace_id == "garden"
    assert await storage.workspaces.of(kept) is None
    assert await storage.service.level(session) == "sandboxed"
    assert (await storage.create()).slug == "garden-2"
    with pytest.raises(NotFound):
        storage.workspaces.get("garden")
    await storage.service.delete("a")
    await storage.workspaces.delete("garden-2")
    assert (await storage.create()).slug == "garden"


async def test_the_floor(storage: WorkspaceStorage) -> None:
    await storage.create()
    await storage.create("Shed", default_trust_level="direct")
    shut = await storage.add("shut", workspace_id="garden", trust_level="direct")
    assert (shut.trust_level, await storage.trust.direct_sessions()) == ("sandboxed", set())
    changed = await configure(storage, "shut", trustLevel="direct")
    assert changed.trust_level == "sandboxed"
    # A session that moves in is lowered, and stays so when it moves out.
    await storage.add("free", trust_level="direct")
    assert (await configure(storage, "free", workspaceId="shed")).trust_level == "direct"
    assert (await configure(storage, "free", workspaceId="garden")).trust_level == "sandboxed"
    moved = await configure(storage, "free", workspaceId="")
    assert (moved.trust_level, moved.workspace_id, await storage.service.workspace(moved)) == ("sandboxed", None, None)
    assert (await configure(storage, "free", trustLevel="direct")).trust_level == "direct"
    assert (await configure(storage, "shut", workspaceId="shed", trustLevel="direct")).trust_level == "direct"
    with raises("no_workspace"):
        await configure(storage, "free", workspaceId="nowhere", trustLevel="sandboxed")
    assert (await storage.service.get("free")).trust_level == "direct"


async def test_lowering_a_workspace_takes_approvals_back_for_good(storage: WorkspaceStorage) -> None:
    await storage.create(default_trust_level="direct")
    session = await storage.add("a", workspace_id="garden", trust_level="direct")
    assert await storage.service.level(session) == "direct"
    etag, _ = await storage.service.listing.page()
    await storage.update("garden", default_trust_level="sandboxed")
    assert (await storage.service.get("a")).trust_level == "sandboxed"
    assert (await storage.service.listing.page())[0] != etag
    assert await storage.trust.direct_sessions() == set()
    await storage.workspaces.delete("garden")
    assert await storage.service.level(await storage.service.get("a")) == "sandboxed"


async def test_a_row_that_hides_while_its_workspace_is_lowered(storage: WorkspaceStorage) -> None:
    await storage.create(default_trust_level="direct")
    await storage.add("a", workspace_id="garden", trust_level="direct")
    await storage.database.write("UPDATE sessions SET workspace_id = NULL, trust_level = 'sandboxed'")
    await storage.update("garden", default_trust_level="sandboxed")
    await storage.workspaces.delete("garden")
    await storage.database.write("UPDATE sessions SET trust_level = 'direct'")
    assert await storage.service.level(await storage.service.get("a")) == "sandboxed"


async def test_an_approval_that_comes_too_late(storage: WorkspaceStorage) -> None:
    await storage.create(default_trust_level="direct")
    await storage.add("a", workspace_id="garden", trust_level="direct")
    await storage.update("garden", default_trust_level="sandboxed")
    # What was under way when the workspace was lowered may still write this.
    await storage.trust.set_level("a", "direct", "owner")
    await storage.database.write("UPDATE sessions SET trust_level = 'direct'")
    assert await storage.service.level(await storage.service.get("a")) == "sandboxed"


async def test_only_the_owner_makes_a_workspace_direct_and_changes_one_that_is(storage: WorkspaceStorage) -> None:
    await storage.create()
    before = storage.workspaces.get("garden")
    for said in (Changes(default_trust_level="full", name="X"), Changes(description="x")):
        with raises("not_owner"):
            await storage.workspaces.update("garden", said, "k", as_owner=False)
        assert storage.workspaces.get("garden") == before
        before = await storage.update("garden", default_trust_level="direct")
    await storage.update("garden", default_trust_level="sandboxed")
    said = Changes(default_trust_level="sandboxed", description="x")
    assert (await storage.workspaces.update("garden", said, "k", as_owner=False)).description == "x"


async def test_the_vault_raises_nothing(storage: WorkspaceStorage, reopened: Reopen) -> None:
    (storage.vault.root / "Secrets").mkdir()
    before = await storage.create(capabilities={"mcps": "none"}, memory_megabytes=512)
    session = await storage.add("a", workspace_id="garden")
    hostile = {
        "name": "Garden",
        "default_trust_level": "direct",
        "working_directory": "Secrets",
        "capabilities": {"mcps": "all"},
        "memory_megabytes": 65536,
    }
    (storage.copies / "garden.json").write_text(json.dumps(hostile))
    (storage.copies / "shed.json").write_text(json.dumps({**hostile, "name": "Shed"}))
    # And a row of the database that says the session had never been in it, and is direct.
    await storage.database.write("UPDATE sessions SET workspace_id = NULL, trust_level = 'direct' WHERE id = 'a'")
    again = await reopened()
    assert again.workspaces.get("garden") == before
    taken = again.workspaces.get("shed")
    assert (taken.default_trust_level, taken.limits, taken.working_directory) == ("sandboxed", Limits(), None)
    found = await again.service.get("a")
    assert await again.workspaces.of(found) == before
    assert await again.service.level(session) == "sandboxed"
    assert found.trust_level == "sandboxed"


async def test_a_vault_on_another_machine(storage: WorkspaceStorage, reopened: Reopen) -> None:
    (storage.vault.root / "Projects").mkdir()
    git = [{"repository": "github.com/ada/garden", "access": "push"}]
    given: dict[str, Any] = {"default_trust_level": "direct", "working_directory": "Projects", "description": "Beds."}
    await storage.create(**given, cpus=4, git=git)
    await storage.add("a", workspace_id="garden", trust_level="direct")
    there = await reopened("elsewhere")
    found = there.workspaces.get("garden")
    # A folder that comes with a vault nobody has chosen here, and who is in which workspace neither.
    assert (found.name, found.description, found.working_directory) == ("Garden", "Beds.", None)
    assert (found.default_trust_level, found.limits.cpus, found.git) == ("sandboxed", None, ())
    session = await there.service.get("a")
    assert await there.workspaces.of(session) is None
    assert await there.service.level(session) == "sandboxed"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"name": ""}',
        '{"name": "X", "owner": "me"}',
        '{"name": "X", "capabilities": {"mcps": "some"}}',
        "[" * 100_000,
        '{"name": "' + "x" * 300_000 + '"}',
    ],
)
async def test_copies_that_are_none_are_left_alone(storage: WorkspaceStorage, reopened: Reopen, text: str) -> None:
    storage.copies.mkdir()
    (storage.copies / "good.json").write_text('{"name": "Good"}')
    (storage.copies / "bad.json").write_text(text)
    (storage.copies / "..x.json").write_text('{"name": "Dots"}')
    (storage.copies / "linked.json").symlink_to(storage.copies / "good.json")
    again = await reopened()
    assert [workspace.slug for workspace in again.workspaces.all()] == ["good"]
    assert (storage.copies / "bad.json").read_text() == text


async def test_a_deleted_workspace_does_not_come_back(storage: WorkspaceStorage, reopened: Reopen) -> None:
    await storage.create()
    copy = storage.copies / "garden.json"
    assert json.loads(copy.read_text())["name"] == "Garden"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(storage.copies.stat().st_mode) == 0o700
    await storage.workspaces.delete("garden")
    assert (await reopened()).workspaces.all() == []


async def test_a_folder_of_copies_that_is_a_link_is_neither_read_nor_written(
    storage: WorkspaceStorage, reopened: Reopen
) -> None:
    elsewhere = storage.vault.root / "Elsewhere"
    elsewhere.mkdir()
    (elsewhere / "shed.json").write_text('{"name": "Shed"}')
    storage.copies.symlink_to(elsewhere)
    await storage.create()
    await storage.workspaces.delete("garden")
    with pytest.raises(Unavailable) as refusal:
        await reopened()
    assert refusal.value.key == "not_a_folder"
    assert [path.name for path in elsewhere.iterdir()] == ["shed.json"]


@pytest.mark.parametrize(
    ("fields", "mention"),
    [
        ({"default_trust_level": "root"}, "default_trust_level"),
        ({"working_directory": "/etc"}, "working_directory"),
        ({"working_directory": ".parachute"}, "working_directory"),
        ({"working_directory": "no/such/folder"}, "working_directory"),
        ({"working_directory": "x" * 4000}, "working_directory"),
        ({"working_directory": "~nobody-at-all/x"}, "working_directory"),
    ],
)
async def test_what_the_service_refuses(storage: WorkspaceStorage, fields: dict[str, Any], mention: str) -> None:
    with pytest.raises(ParachuteError, match=rf"^{mention}: "):
        await storage.create(**fields)
    assert storage.workspaces.all() == []
    before = await storage.create()
    with pytest.raises(ParachuteError, match=rf"^{mention}: "):
        await storage.update("garden", name="Other", **fields)
    assert storage.workspaces.get("garden") == before


@pytest.mark.parametrize(
    "fields",
    [
        {"name": " "},
        {"name": "a\nb"},
        {"name": "x" * 101},
        {"name": None},
        {"slug": "x"},
        {"model": "a b"},
        {"description": "\0"},
        {"description": "\ud800"},
        {"working_directory": "a\0b"},
        {"capabilities": {"mcp": "all"}},
        {"capabilities": {"mcps": "some"}},
        {"capabilities": {"mcps": [1]}},
        {"memory_megabytes": 10},
        {"memory_megabytes": "512"},
        {"cpus": 0},
        {"cpus": float("inf")},
        {"processes": 1},
        {"processes": True},
        {"git": ["github.com/ada/garden"]},
        {"git": [{"repository": "github.com"}]},
        {"git": [{"repository": "127.0.0.1/ada/garden"}]},
        {"git": [{"repository": "github.com/ada/garden", "access": "admin"}]},
    ],
)
def test_what_cannot_be_said(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        NewWorkspace(**{"name": "Garden", **fields})


async def configure(storage: WorkspaceStorage, session: str, **changes: Any) -> Any:
    return await storage.service.configure(session, changes, approved_by="owner", admin=True)
