"""An adoption that fails in the middle leaves nothing behind."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from parachute.app import agent_program
from parachute.claude_code.history import History
from parachute.claude_code.service import ClaudeCode
from parachute.errors import Unavailable
from parachute.hooks.models import HookOutcome
from parachute.hooks.service import Hooks
from parachute.sandbox.service import Sandboxes
from parachute.settings.home import Home
from parachute.settings.models import Settings
from tests.sessions.conftest import Shelf, shelf

from .writing import talk, write

__all__ = ["shelf"]


class Waiting(Hooks):
    """Hooks that take their time."""

    def __init__(self, home: Home, vault: Path) -> None:
        super().__init__(home, vault)
        self.asked = asyncio.Event()

    async def fire(self, *arguments: object, **named: object) -> HookOutcome:
        """Never answer."""
        self.asked.set()
        await asyncio.Event().wait()
        return HookOutcome()


def service(shelf: Shelf, hooks: Hooks | None = None) -> ClaudeCode:
    """What reads the shelf's Claude Code."""
    home = Home(shelf.claude.parent / "home")
    sandboxes = Sandboxes(home, Settings(vault=shelf.vault.root), shelf.vault, agent_program())
    hooks = hooks or Hooks(home, shelf.vault.root)
    return ClaudeCode(History(shelf.claude), shelf.vault, shelf.service, sandboxes, hooks)


def left(shelf: Shelf, session: str) -> list[Path]:
    """All files and folders of the vault that are named after a conversation."""
    return [path for path in shelf.vault.root.rglob("*") if session in path.name]


async def test_when_the_session_cannot_be_stored(shelf: Shelf) -> None:
    session = write(shelf.claude, "/a", *talk("/a"))
    adopting = service(shelf)
    async with shelf.database.transaction() as connection:
        await connection.execute("CREATE TRIGGER broken BEFORE INSERT ON sessions BEGIN SELECT no_such(); END")
    with pytest.raises(sqlite3.OperationalError):
        await adopting.adopt(session, None, None)
    assert left(shelf, session) == []
    async with shelf.database.transaction() as connection:
        await connection.execute("DROP TRIGGER broken")
    assert (await adopting.adopt(session, None, None)).is_new
    assert (await shelf.service.get(session)).trust_level == "sandboxed"


async def test_when_it_is_cancelled(shelf: Shelf) -> None:
    session = write(shelf.claude, "/a", *talk("/a"))
    hooks = Waiting(Home(shelf.claude.parent / "home"), shelf.vault.root)
    task = asyncio.create_task(service(shelf, hooks).adopt(session, None, None))
    await hooks.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left(shelf, session) == []
    assert await shelf.service.find(session) is None


async def test_when_the_place_cannot_be_written(shelf: Shelf) -> None:
    session = write(shelf.claude, "/a", *talk("/a"))
    (shelf.vault.transcripts / "projects").rmdir()
    (shelf.vault.transcripts / "projects").write_text("in the way")
    with pytest.raises(Unavailable) as refusal:
        await service(shelf).adopt(session, None, None)
    assert refusal.value.key == "not_a_folder"
    assert left(shelf, session) == []
    assert await shelf.service.find(session) is None


async def test_a_session_of_a_module_is_not_taken_over(shelf: Shelf) -> None:
    session = write(shelf.claude, "/a", *talk("/a"))
    await shelf.add(session, metadata={"module": "garden"})
    with pytest.raises(Exception, match="belongs to the module garden"):
        await service(shelf).adopt(session, None, None)


@pytest.mark.parametrize("cwd", ["/" + "x" * 300, "/" + "/".join(["y" * 200] * 19), "/loop/x"])
async def test_a_folder_that_cannot_be_is_none(shelf: Shelf, tmp_path: Path, cwd: str) -> None:
    if cwd == "/loop/x":
        (tmp_path / "loop").symlink_to("loop")
        cwd = f"{tmp_path}{cwd}"
    session = write(shelf.claude, "/a", *talk(cwd))
    adoption = await service(shelf).adopt(session, None, None)
    assert "It has no folder to work in" in adoption.sentence
    assert (await shelf.service.get(session)).working_directory is None
