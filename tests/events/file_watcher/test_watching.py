"""Changes in a real folder."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.events.file_watcher.service import VaultWatcher

_SECONDS = 60.0


class Heard:
    """Paths that a listener was told."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._more = asyncio.Event()

    async def __call__(self, paths: frozenset[str]) -> None:
        self.paths |= paths
        self._more.set()

    async def wait_for(self, path: str) -> None:
        async with asyncio.timeout(_SECONDS):
            while path not in self.paths:
                self._more.clear()
                await self._more.wait()


@pytest.fixture
async def watcher(tmp_path: Path) -> AsyncIterator[VaultWatcher]:
    vault = tmp_path / "vault"
    (vault / ".parachute").mkdir(parents=True)
    watching = VaultWatcher(vault)
    yield watching
    await watching.close()


async def _listening(watcher: VaultWatcher, vault: Path, heard: Heard) -> None:
    """Write until the first change is heard: only then the kernel watches."""
    watcher.listen(heard)
    async with asyncio.timeout(_SECONDS):
        number = 0
        while not heard.paths:
            (vault / f"begin{number}").touch()
            number += 1
            await asyncio.sleep(0.05)


async def test_changes_are_told_with_paths_in_the_vault(watcher: VaultWatcher, tmp_path: Path) -> None:
    vault, heard = tmp_path / "vault", Heard()
    await _listening(watcher, vault, heard)
    (vault / "Brain" / "people").mkdir(parents=True)
    note = vault / "Brain" / "people" / "Kévin 🪂.md"
    note.write_text("Hello")
    await heard.wait_for("Brain/people/Kévin 🪂.md")
    note.rename(note.with_name("Kevin.md"))
    await heard.wait_for("Brain/people/Kevin.md")
    note.with_name("Kevin.md").unlink()


async def test_what_the_computer_keeps_for_itself_is_not_told(watcher: VaultWatcher, tmp_path: Path) -> None:
    vault, heard = tmp_path / "vault", Heard()
    await _listening(watcher, vault, heard)
    (vault / ".parachute" / "sessions.db").write_text("x")
    (vault / "Daily" / ".agents").mkdir(parents=True)
    (vault / "Daily" / ".agents" / "reflection.md").write_text("x")
    await heard.wait_for("Daily")
    (vault / "last").touch()
    await heard.wait_for("last")
    assert not any(path.startswith(".parachute") for path in heard.paths)


async def test_a_listener_that_fails_does_not_keep_it_from_the_others(watcher: VaultWatcher, tmp_path: Path) -> None:
    async def failing(_: frozenset[str]) -> None:
        raise ValueError("It fails.")

    vault, heard = tmp_path / "vault", Heard()
    watcher.listen(failing)
    await _listening(watcher, vault, heard)
    (vault / "note").touch()
    await heard.wait_for("note")


async def test_nothing_is_watched_when_nobody_listens(watcher: VaultWatcher, tmp_path: Path) -> None:
    vault, heard = tmp_path / "vault", Heard()
    await _listening(watcher, vault, heard)
    await watcher.forget(heard)
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "vault watcher"]
    again = Heard()
    await _listening(watcher, vault, again)
    (vault / "again").touch()
    await again.wait_for("again")
    assert "again" not in heard.paths
