"""Workspaces as they are made, changed and deleted, and what a restart and a copied vault make of them."""

import asyncio
import json
import stat
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic import ValidationError

from parachute.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable
from parachute.sandbox.limits import Limits
from parachute.workspaces.request import Changes, NewWorkspace

from .conftest import Office

Reopen = Callable[..., Awaitable[Office]]


async def test_everything_survives_a_restart(office: Office, reopened: Reopen) -> None:
    (office.vault.root / "Projects" / "beds").mkdir(parents=True)
    made = await office.create(
        "Garden plan",
        description=" Beds. ",
        default_trust_level="trusted",
        working_directory="Projects/beds",
        model="claude-haiku-4-5",
        capabilities={"mcps": ["brain", "brain"], "agents": "none"},
        memory_megabytes=1024,
        cpus=1.5,
        processes=300,
    )
    assert (made.slug, made.description, made.default_trust_level) == ("garden-plan", "Beds.", "direct")
    assert (made.working_directory, made.capabilities.mcps) == ("Projects/beds", ("brain",))
    assert made.limits == Limits(1024, 1.5, 300)
    again = await reopened()
    assert again.workspaces.get("garden-plan") == made


async def test_changes_keep_the_slug_and_what_is_not_named(office: Office) -> None:
    (office.vault.root / "Projects").mkdir()
    await office.create(working_directory="Projects", model="m", cpus=2, capabilities={"mcps": "none"})
    changed = await office.update("garden", name="House", description="Walls.")
    assert (changed.slug, changed.name, changed.working_directory, changed.model) == (
        "garden",
        "House",
        "Projects",
        "m",
    )
    assert (changed.limits.cpus, changed.capabilities.mcps) == (2.0, "none")
    # The app sends every field, null to clear.
    cleared = await office.update("garden", working_directory=None, model=None, capabilities=None, cpus=None)
    assert (cleared.working_directory, cleared.model, cleared.limits) == (None, None, Limits())
    assert cleared.capabilities.mcps == "all"
    assert cleared.name == "House"
    assert (await office.update("garden", default_trust_level="direct")).default_trust_level == "direct"
    assert (await office.update("garden", description="Beds.")).default_trust_level == "direct"
    assert (await office.update("garden", default_trust_level=None)).default_trust_level == "sandboxed"


async def test_a_folder_that_went_away_does_not_stand_in_the_way_of_other_changes(office: Office) -> None:
    folder = office.vault.root / "Projects"
    folder.mkdir()
    await office.create(working_directory="Projects")
    folder.rmdir()
    assert (await office.update("garden", name="House", working_directory="Projects")).name == "House"
    with pytest.raises(InvalidInput, match=r"working_directory: there is no folder"):
        await office.update("garden", working_directory="Elsewhere")


async def test_two_with_one_name(office: Office) -> None:
    done = await asyncio.gather(
        office.create(), office.create("garden"), office.create("Garden!"), return_exceptions=True
    )
    conflicts = [each for each in done if isinstance(each, Conflict)]
    assert len(conflicts) == 1
    assert sorted(workspace.slug for workspace in office.workspaces.all()) == ["garden", "garden-2"]
    with pytest.raises(Conflict, match="name"):
        await office.update("garden-2", name="GARDEN")
    await office.update("garden", name="GARDEN")


async def test_sessions_stay_and_never_wake_up_in_another_workspace(office: Office) -> None:
    await office.create()
    session = await office.add("a", workspace_id="garden")
    await office.workspaces.delete("garden")
    kept = await office.service.get("a")
    assert kept.workspace_id == "garden"
    assert await office.workspaces.of(kept) is None
    assert await office.service.level(session) == "sandboxed"
    assert (await office.create()).slug == "garden-2"
    with pytest.raises(NotFound):
        office.workspaces.get("garden")
    await office.service.delete("a")
    await office.workspaces.delete("garden-2")
    assert (await office.create()).slug == "garden"


async def test_the_floor(office: Office) -> None:
    await office.create()
    await office.create("Shed", default_trust_level="direct")
    shut = await office.add("shut", workspace_id="garden", trust_level="direct")
    assert (shut.trust_level, await office.trust.direct_sessions()) == ("sandboxed", set())
    changed = await configure(office, "shut", trustLevel="direct")
    assert changed.trust_level == "sandboxed"
    # A session that moves in is lowered, and stays so when it moves out.
    await office.add("free", trust_level="direct")
    assert (await configure(office, "free", workspaceId="shed")).trust_level == "direct"
    assert (await configure(office, "free", workspaceId="garden")).trust_level == "sandboxed"
    moved = await configure(office, "free", workspaceId="")
    assert (moved.trust_level, moved.workspace_id, await office.service.workspace(moved)) == ("sandboxed", None, None)
    assert (await configure(office, "free", trustLevel="direct")).trust_level == "direct"
    assert (await configure(office, "shut", workspaceId="shed", trustLevel="direct")).trust_level == "direct"
    with pytest.raises(NotFound, match="workspaceId"):
        await configure(office, "free", workspaceId="nowhere", trustLevel="sandboxed")
    assert (await office.service.get("free")).trust_level == "direct"


async def test_lowering_a_workspace_takes_approvals_back_for_good(office: Office) -> None:
    await office.create(default_trust_level="direct")
    session = await office.add("a", workspace_id="garden", trust_level="direct")
    assert await office.service.level(session) == "direct"
    etag, _ = await office.service.page()
    await office.update("garden", default_trust_level="sandboxed")
    assert (await office.service.get("a")).trust_level == "sandboxed"
    assert (await office.service.page())[0] != etag
    assert await office.trust.direct_sessions() == set()
    await office.workspaces.delete("garden")
    assert await office.service.level(await office.service.get("a")) == "sandboxed"


async def test_a_row_that_hides_while_its_workspace_is_lowered(office: Office) -> None:
    await office.create(default_trust_level="direct")
    await office.add("a", workspace_id="garden", trust_level="direct")
    await office.database.write("UPDATE sessions SET workspace_id = NULL, trust_level = 'sandboxed'")
    await office.update("garden", default_trust_level="sandboxed")
    await office.workspaces.delete("garden")
    await office.database.write("UPDATE sessions SET trust_level = 'direct'")
    assert await office.service.level(await office.service.get("a")) == "sandboxed"


async def test_an_approval_that_comes_too_late(office: Office) -> None:
    await office.create(default_trust_level="direct")
    await office.add("a", workspace_id="garden", trust_level="direct")
    await office.update("garden", default_trust_level="sandboxed")
    # What was under way when the workspace was lowered may still write this.
    await office.trust.set_level("a", "direct", "owner")
    await office.database.write("UPDATE sessions SET trust_level = 'direct'")
    assert await office.service.level(await office.service.get("a")) == "sandboxed"


async def test_only_the_owner_makes_a_workspace_direct_and_changes_one_that_is(office: Office) -> None:
    await office.create()
    before = office.workspaces.get("garden")
    for said in (Changes(default_trust_level="full", name="X"), Changes(description="x")):
        with pytest.raises(NotAllowed, match="default_trust_level"):
            await office.workspaces.update("garden", said, "k", as_owner=False)
        assert office.workspaces.get("garden") == before
        before = await office.update("garden", default_trust_level="direct")
    await office.update("garden", default_trust_level="sandboxed")
    said = Changes(default_trust_level="sandboxed", description="x")
    assert (await office.workspaces.update("garden", said, "k", as_owner=False)).description == "x"


async def test_the_vault_raises_nothing(office: Office, reopened: Reopen) -> None:
    (office.vault.root / "Secrets").mkdir()
    before = await office.create(capabilities={"mcps": "none"}, memory_megabytes=512)
    session = await office.add("a", workspace_id="garden")
    hostile = {
        "name": "Garden",
        "default_trust_level": "direct",
        "working_directory": "Secrets",
        "capabilities": {"mcps": "all"},
        "memory_megabytes": 65536,
    }
    (office.copies / "garden.json").write_text(json.dumps(hostile))
    (office.copies / "shed.json").write_text(json.dumps({**hostile, "name": "Shed"}))
    # And a row of the database that says the session had never been in it, and is direct.
    await office.database.write("UPDATE sessions SET workspace_id = NULL, trust_level = 'direct' WHERE id = 'a'")
    again = await reopened()
    assert again.workspaces.get("garden") == before
    taken = again.workspaces.get("shed")
    assert (taken.default_trust_level, taken.limits) == ("sandboxed", Limits())
    found = await again.service.get("a")
    assert await again.workspaces.of(found) == before
    assert await again.service.level(session) == "sandboxed"
    assert found.trust_level == "sandboxed"


async def test_a_vault_on_another_machine(office: Office, reopened: Reopen) -> None:
    (office.vault.root / "Projects").mkdir()
    await office.create(default_trust_level="direct", working_directory="Projects", description="Beds.", cpus=4)
    await office.add("a", workspace_id="garden", trust_level="direct")
    there = await reopened("elsewhere")
    found = there.workspaces.get("garden")
    assert (found.name, found.description, found.working_directory) == ("Garden", "Beds.", "Projects")
    assert (found.default_trust_level, found.limits.cpus) == ("sandboxed", None)
    session = await there.service.get("a")
    assert await there.workspaces.of(session) == found
    session.source = "telegram"  # what others may ask for is not given by a file that came along
    assert await there.workspaces.of(session) is None
    session = await there.service.get("a")
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
async def test_copies_that_are_none_are_left_alone(office: Office, reopened: Reopen, text: str) -> None:
    office.copies.mkdir()
    (office.copies / "good.json").write_text('{"name": "Good"}')
    (office.copies / "bad.json").write_text(text)
    (office.copies / "..x.json").write_text('{"name": "Dots"}')
    (office.copies / "linked.json").symlink_to(office.copies / "good.json")
    again = await reopened()
    assert [workspace.slug for workspace in again.workspaces.all()] == ["good"]
    assert (office.copies / "bad.json").read_text() == text


async def test_a_deleted_workspace_does_not_come_back(office: Office, reopened: Reopen) -> None:
    await office.create()
    copy = office.copies / "garden.json"
    assert json.loads(copy.read_text())["name"] == "Garden"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(office.copies.stat().st_mode) == 0o700
    await office.workspaces.delete("garden")
    assert (await reopened()).workspaces.all() == []


async def test_a_folder_of_copies_that_is_a_link_is_neither_read_nor_written(office: Office, reopened: Reopen) -> None:
    elsewhere = office.vault.root / "Elsewhere"
    elsewhere.mkdir()
    (elsewhere / "shed.json").write_text('{"name": "Shed"}')
    office.copies.symlink_to(elsewhere)
    await office.create()
    await office.workspaces.delete("garden")
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
async def test_what_the_service_refuses(office: Office, fields: dict[str, Any], mention: str) -> None:
    with pytest.raises(ParachuteError, match=rf"^{mention}: "):
        await office.create(**fields)
    assert office.workspaces.all() == []
    before = await office.create()
    with pytest.raises(ParachuteError, match=rf"^{mention}: "):
        await office.update("garden", name="Other", **fields)
    assert office.workspaces.get("garden") == before


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
    ],
)
def test_what_cannot_be_said(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        NewWorkspace(**{"name": "Garden", **fields})


async def configure(office: Office, session: str, **changes: Any) -> Any:
    return await office.service.configure(session, changes, approved_by="owner", admin=True)
