"""Declared workspaces: made and changed when core starts, nobody's to change, and gone when they are not declared any more."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from parachute.chat.workspaces.request import Changes
from parachute.chat.workspaces.service import Workspaces
from parachute.config.declared.models import Declaration, DeclarationInvalid, Declared
from tests.chat.workspaces.conftest import WorkspaceStorage
from tests.support.errors import raises

pytestmark = pytest.mark.long

Open = Callable[..., Awaitable[WorkspaceStorage]]
FILE = Path("/etc/parachute/declared.json")


class DeclaredStorage(WorkspaceStorage):
    """An storage with declared workspaces."""

    def __init__(self, vault: Path, home: Path, declared: dict[str, dict[str, Any]]) -> None:
        super().__init__(vault, home)
        declaration = Declaration(FILE, workspaces=declared)
        self.workspaces = Workspaces(self.vault, self.rows, self.service, self.check_directory, declaration)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    """Open the same folders with declared workspaces, again and again."""
    made: list[WorkspaceStorage] = []

    async def again(**declared: dict[str, Any]) -> WorkspaceStorage:
        for each in made:
            await each.close()
        made[:] = [await DeclaredStorage(tmp_path / "vault", tmp_path / "home", declared).open()]
        return made[0]

    yield again
    for each in made:
        await each.close()


GARDEN = {"name": "Garden", "description": "Beds.", "working_directory": "Projects/garden", "model": "m", "cpus": 2}


async def test_they_are_made_and_a_restart_changes_nothing(opened: Open) -> None:
    storage = await opened(garden=GARDEN)
    made = storage.workspaces.get("garden")
    assert (made.name, made.description, made.model, made.limits.cpus) == ("Garden", "Beds.", "m", 2.0)
    assert (made.declared, made.default_trust_level) == (True, "sandboxed")
    assert made.working_directory == "Projects/garden"
    assert (storage.vault.root / "Projects" / "garden").is_dir()
    assert (await opened(garden=GARDEN)).workspaces.get("garden") == made
    changed = (await opened(garden={"name": "Beds"})).workspaces.get("garden")
    assert (changed.name, changed.description, changed.working_directory, changed.model) == ("Beds", "", None, None)
    assert changed.created_at == made.created_at


async def test_hosts_and_presets_that_cannot_be_are_named(tmp_path: Path) -> None:
    for hosts, said in ((["preset:python"], "no preset 'python'"), (["127.0.0.1"], "127.0.0.1")):
        with raises("declaration_invalid", names=said) as caught:
            DeclaredStorage(tmp_path / "vault", tmp_path / "home", {"garden": {**GARDEN, "network": {"hosts": hosts}}})
        assert "workspaces.garden.network.hosts" in caught.value.message


async def test_nobody_changes_them(opened: Open) -> None:
    storage = await opened(garden=GARDEN)
    before = storage.workspaces.get("garden")
    with raises("declared", names=f"The workspace Garden .* \\(workspaces.garden in {FILE}\\)"):
        await storage.workspaces.update("garden", Changes(name="Mine"), "owner", as_owner=True)
    with pytest.raises(Declared):
        await storage.workspaces.delete("garden")
    assert storage.workspaces.get("garden") == before
    assert (storage.copies / "garden.json").exists()
    # Another one is called so by its slug.
    assert (await storage.create("Garden 2")).slug == "garden-2"


async def test_one_of_the_user_becomes_declared_and_then_goes_and_its_conversations_stay(opened: Open) -> None:
    storage = await opened()
    await storage.create(model="mine", description="Mine.")
    await storage.create("Shed")
    await storage.add("chat", workspace_id="garden")
    storage = await opened(garden={"name": "Garden"})
    assert (storage.workspaces.get("garden").model, storage.workspaces.get("garden").description) == (None, "")
    storage = await opened()
    assert [workspace.slug for workspace in storage.workspaces.all()] == ["shed"]
    assert [path.name for path in storage.copies.iterdir()] == ["shed.json"]
    assert (await storage.service.get("chat")).id == "chat"
    assert [workspace.slug for workspace in (await opened()).workspaces.all()] == ["shed"], "and it does not come back"


async def test_a_declared_floor_takes_approvals_back(opened: Open) -> None:
    storage = await opened(garden={"name": "Garden", "default_trust_level": "direct"})
    await storage.add("chat", workspace_id="garden", trust_level="direct")
    assert await storage.trust.direct_sessions() == {"chat"}
    storage = await opened(garden={"name": "Garden"})
    assert await storage.trust.direct_sessions() == set()
    assert await storage.service.level(await storage.service.get("chat")) == "sandboxed"


async def test_a_folder_that_may_not_be_worked_in(opened: Open, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        storage = await opened(garden={"name": "Garden", "working_directory": "/etc"})
    assert storage.workspaces.get("garden").working_directory is None
    assert f"{FILE}: workspaces.garden.working_directory: /etc is not in the vault" in caplog.text


async def test_a_copy_that_is_carried_away_declares_nothing(opened: Open, tmp_path: Path) -> None:
    storage = await opened(garden=GARDEN)
    assert json.loads((storage.copies / "garden.json").read_text())["declared"] is True
    elsewhere = await WorkspaceStorage(tmp_path / "vault", tmp_path / "another").open()
    try:
        assert elsewhere.workspaces.get("garden").declared is False
        await elsewhere.update("garden", name="Mine")
    finally:
        await elsewhere.close()


@pytest.mark.parametrize(
    ("declared", "key"),
    [
        ({"Garden": {"name": "x"}}, "workspaces.Garden: "),
        ({"garden": {}}, "workspaces.garden.name: "),
        ({"garden": {"name": "x", "cpus": 0}}, "workspaces.garden.cpus: "),
        ({"garden": {"name": "x", "capabilities": {"mcp": "all"}}}, "workspaces.garden.capabilities.mcp: "),
        ({"garden": {"name": "x", "slug": "y"}}, "workspaces.garden.slug: "),
        ({"garden": {"name": "x", "default_trust_level": "maybe"}}, "workspaces.garden.default_trust_level: "),
        ({f"g{number}": {"name": "x"} for number in range(201)}, "workspaces: there are more than 200"),
    ],
)
async def test_what_cannot_be_is_named_before_anything_changes(
    opened: Open, tmp_path: Path, declared: dict[str, dict[str, Any]], key: str
) -> None:
    with pytest.raises(DeclarationInvalid) as caught:
        await opened(**declared)
    assert caught.value.message.startswith(f"{FILE}: {key}")


async def test_one_that_stays_at_home_stays_when_it_is_no_longer_declared(opened: Open) -> None:
    storage = await opened(diary={"name": "Diary", "only_at_home": True})
    await storage.add("chat", workspace_id="diary")
    storage = await opened()
    assert await storage.workspaces.stays_at_home("chat")
    assert storage.workspaces.get("diary").declared is False
    assert (await storage.update("diary", only_at_home=False)).only_at_home is False
