"""An adoption that fails in the middle leaves nothing behind."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from parachute.base.errors import Conflict, Unavailable
from parachute.chat.claude_code_import.history import History
from parachute.chat.claude_code_import.service import ClaudeCode
from parachute.config.agent_program import agent_program
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.events.hooks.models import HookOutcome
from parachute.events.hooks.service import Hooks
from parachute.sandbox.engines.service import Sandboxes
from tests.chat.sessions.conftest import SessionStorage, storage

from .writing import LATER, said, talk, write

__all__ = ["storage"]


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


def service(storage: SessionStorage, hooks: Hooks | None = None) -> ClaudeCode:
    """The import of Claude Code over these sessions."""
    home = Home(storage.claude.parent / "home")
    sandboxes = Sandboxes(home, Settings(vault=storage.vault.root), storage.vault, agent_program())
    hooks = hooks or Hooks(home, storage.vault.root)
    return ClaudeCode(History(storage.claude), storage.vault, storage.service, sandboxes, hooks)


def left(storage: SessionStorage, session: str) -> list[Path]:
    """All files and folders of the vault that are named after a conversation."""
    return [path for path in storage.vault.root.rglob("*") if session in path.name]


async def test_when_the_session_cannot_be_stored(storage: SessionStorage) -> None:
    session = write(storage.claude, "/a", *talk("/a"))
    adopting = service(storage)
    async with storage.database.transaction() as connection:
        await connection.execute("CREATE TRIGGER broken BEFORE INSERT ON sessions BEGIN SELECT no_such(); END")
    with pytest.raises(sqlite3.OperationalError):
        await adopting.adopt(session, None, None)
    assert left(storage, session) == []
    async with storage.database.transaction() as connection:
        await connection.execute("DROP TRIGGER broken")
    assert (await adopting.adopt(session, None, None)).is_new
    assert (await storage.service.get(session)).trust_level == "sandboxed"


async def test_when_it_is_cancelled(storage: SessionStorage) -> None:
    session = write(storage.claude, "/a", *talk("/a"))
    hooks = Waiting(Home(storage.claude.parent / "home"), storage.vault.root)
    task = asyncio.create_task(service(storage, hooks).adopt(session, None, None))
    await hooks.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left(storage, session) == []
    assert await storage.service.find(session) is None


async def test_when_the_place_cannot_be_written(storage: SessionStorage) -> None:
    session = write(storage.claude, "/a", *talk("/a"))
    (storage.vault.transcripts / "projects").rmdir()
    (storage.vault.transcripts / "projects").write_text("in the way")
    with pytest.raises(Unavailable) as refusal:
        await service(storage).adopt(session, None, None)
    assert refusal.value.key == "not_a_folder"
    assert left(storage, session) == []
    assert await storage.service.find(session) is None


async def test_a_session_of_a_module_is_not_taken_over(storage: SessionStorage) -> None:
    session = write(storage.claude, "/a", *talk("/a"))
    await storage.add(session, metadata={"module": "garden"})
    with pytest.raises(Conflict) as refused:
        await service(storage).adopt(session, None, None)
    assert refused.value.key == "module_session"
    assert "garden" in refused.value.message


@pytest.mark.parametrize("cwd", ["/" + "x" * 300, "/" + "/".join(["y" * 200] * 19), "/loop/x"])
async def test_a_folder_that_cannot_be_is_none(storage: SessionStorage, tmp_path: Path, cwd: str) -> None:
    if cwd == "/loop/x":
        (tmp_path / "loop").symlink_to("loop")
        cwd = f"{tmp_path}{cwd}"
    session = write(storage.claude, "/a", *talk(cwd))
    adoption = await service(storage).adopt(session, None, None)
    assert "It has no folder to work in" in adoption.sentence
    assert (await storage.service.get(session)).working_directory is None


async def test_a_conversation_keeps_its_time(storage: SessionStorage) -> None:
    session = write(storage.claude, "/a", *talk("/a"))
    await service(storage).adopt(session, None, None)
    assert (await storage.service.get(session)).updated_at == LATER
    ahead = write(storage.claude, "/a", *[{**line, "timestamp": "2999-01-01T00:00:00+01:00"} for line in talk("/a")])
    await service(storage).adopt(ahead, None, None)
    assert (await storage.service.get(ahead)).updated_at < "2999"


async def test_results_that_lie_beside_a_conversation_come_along(storage: SessionStorage) -> None:
    session = "0000000a-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
    kept = storage.claude / "projects" / "-a" / session / "tool-results"
    kept.mkdir(parents=True)
    (kept / "one.txt").write_text("all of it")
    (kept / "link.txt").symlink_to("/etc/passwd")
    result = said("user", [{"type": "tool_result", "tool_use_id": "t", "content": f"Saved to: {kept}/one.txt"}], "/a")
    write(storage.claude, "/a", *talk("/a"), result, session=session)
    await service(storage).adopt(session, None, None)
    attached = storage.service.attachments(session)
    assert [(path.name, path.read_text()) for path in attached.iterdir()] == [("one.txt", "all of it")]
    (copy,) = storage.vault.root.rglob(f"{session}.jsonl")
    assert "Saved to: /attachments/one.txt" in copy.read_text()
    assert "tool-results" in (storage.claude / "projects" / "-a" / f"{session}.jsonl").read_text()
    await storage.service.delete(session)
    assert left(storage, session) == []
    storage.vault.transcripts.joinpath("projects").rmdir()
    storage.vault.transcripts.joinpath("projects").write_text("in the way")
    with pytest.raises(Unavailable):
        await service(storage).adopt(session, None, None)
    assert left(storage, session) == []
