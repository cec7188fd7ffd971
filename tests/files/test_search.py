"""Texts of the vault are found by their words and their meaning, with the real process of the index."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import InvalidInput
from parachute.config.settings.groups.local_models import MeaningSettings
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.events.file_watcher.service import VaultWatcher
from parachute.files.search import FileSearch
from parachute.llm.meaning.full_text import FILES
from parachute.llm.meaning.service import MeaningIndex
from parachute.supervisor import control, units
from tests.llm.meaning import models
from tests.llm.meaning.activator import IndexProcess
from tests.support.clock import ManualClock
from tests.support.waiting import until

pytestmark = pytest.mark.process

Make = Callable[..., FileSearch]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path / "vault")
    made.prepare()
    return made


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[IndexProcess]:
    folder = Path(tempfile.mkdtemp(prefix="pfs-", dir="/tmp"))
    model = models.write(tmp_path / "model")
    environment = {"PARACHUTE_HOME": str(folder), "PARACHUTE_MEANING_FOLDER": str(model)}
    running = IndexProcess(folder=folder, environment=environment)
    place = units.meaning_socket(Home(folder))
    place.parent.mkdir(parents=True)
    running.listen(place, "parachute.llm.meaning")
    yield running
    ended = running.end()
    shutil.rmtree(folder)
    assert ended, "the index does not end"


@pytest.fixture
async def make(process: IndexProcess, vault: Vault, tmp_path: Path, clock: ManualClock) -> AsyncIterator[Make]:
    made: list[Any] = []

    async def handle(request: dict[str, Any]) -> dict[str, Any]:
        return {}

    supervisor = await control.serve(Home(process.folder), handle)

    def making(**settings: Any) -> FileSearch:
        chosen = MeaningSettings(**{"folder": tmp_path / "model", **settings})
        meaning = MeaningIndex(Home(process.folder), chosen, None, lambda: False, lambda: [FILES], clock)
        found = FileSearch(vault, meaning, VaultWatcher(vault.root), clock)
        made.append((found, meaning))
        return found

    yield making
    for search, meaning in made:
        await search.close()
        await meaning.close()
    supervisor.close()
    await supervisor.wait_closed()


def _write(vault: Vault, path: str, content: str | bytes) -> Path:
    file = vault.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


async def _found(clock: ManualClock, search: FileSearch, question: str) -> list[str]:
    """Search when the last look is not fresh any more."""
    clock.move(4)
    return [each.path for each in (await search.search(question, 10))[0]]


async def test_words_come_first_and_then_what_means_the_same(make: Make, vault: Vault, clock: ManualClock) -> None:
    _write(vault, "Notes/harbour.md", "---\ntitle: x\n---\nThree ships\nin the harbour.")
    _write(vault, "Notes/bread.txt", "bread from the oven, as grandmother made it")
    _write(vault, "Projekte/Übersicht.md", "Der Kostenplan für März.")
    search = make()
    await search.start()
    await _started(clock)
    await until(lambda: _meaning(search).progress and not _meaning(search).waiting, "everything is read")
    ((found,), _) = await search.search("boats", 10)
    assert (found.path, found.found_by, found.snippet) == ("Notes/harbour.md", "meaning", "Three ships in the harbour.")
    ((found,), _) = await search.search("grandmother bre", 10)
    assert (found.path, found.found_by) == ("Notes/bread.txt", "words")
    assert "grandmother made" in found.snippet
    assert await _found(clock, search, "kostenplan marz") == ["Projekte/Übersicht.md"]
    assert await _found(clock, search, "ubersicht") == ["Projekte/Übersicht.md"]
    assert await _found(clock, search, 'AND "( NEAR') == []
    assert await _found(clock, search, "?!") == []
    with pytest.raises(InvalidInput):
        await search.search(" ", 10)


async def test_words_of_scripts_without_spaces(make: Make, vault: Vault, clock: ManualClock) -> None:
    _write(vault, "Notes/散步路线.md", "昨天和叔叔一起去灯塔。")
    search = make()
    await search.start()
    await _started(clock)
    await until(lambda: _meaning(search).progress and not _meaning(search).waiting, "everything is read")
    ((found,), _) = await search.search("灯塔", 10)
    assert (found.path, found.found_by, found.snippet) == ("Notes/散步路线.md", "words", "昨天和叔叔一起去灯塔。")
    assert await _found(clock, search, "路线") == ["Notes/散步路线.md"]


async def _started(clock: ManualClock) -> None:
    """Let so much time pass that the texts are read."""
    await clock.advance(9, "texts of the vault")
    clock.move(1)


def _meaning(search: FileSearch) -> MeaningIndex:
    return search._meaning


async def test_what_devices_may_not_read_is_not_found(
    make: Make, vault: Vault, clock: ManualClock, tmp_path: Path
) -> None:
    for path in (
        *(".hidden/a.md", "Notes/.b.md", ".parachute/c.md", "keys.pem/d.md", "node_modules/x/e.md"),
        *("Notes/e.html", "Notes/f.md.bak"),
    ):
        _write(vault, path, "treasure")
    _write(vault, "Notes/binary.md", b"treasure\0")
    _write(vault, "Notes/latin.txt", b"treasure \xe4")
    (tmp_path / "outside.md").write_text("treasure")
    (vault.root / "Notes/link.md").symlink_to(tmp_path / "outside.md")
    (vault.root / "Linked").symlink_to(tmp_path)
    os.mkfifo(vault.root / "Notes/pipe.md")
    _write(vault, "Notes/large.md", "first " + "x " * 3_000_000 + "treasure")
    search = make(enabled=False)
    assert await _found(clock, search, "treasure") == []
    assert await _found(clock, search, "first") == ["Notes/large.md"]
    # What the index still knows is looked at once more before it is shown.
    file = _write(vault, "Notes/shown.md", "treasure")
    assert await _found(clock, search, "treasure") == ["Notes/shown.md"]
    ((found,), _) = await search.search("treasure", 10)
    assert found.path == "Notes/shown.md"
    file.rename(vault.root / "Notes/.shown.md")
    (vault.root / "Notes/shown.md").symlink_to(tmp_path / "outside.md")
    assert await search.search("treasure", 10) == ([], None)


async def test_only_what_has_changed_is_read_again(make: Make, vault: Vault, clock: ManualClock) -> None:
    first, second = _write(vault, "a.md", "sunflowers"), _write(vault, "b.md", "tulips")
    search = make(enabled=False)
    assert await _found(clock, search, "sunflowers") == ["a.md"]
    status = second.stat()
    second.write_text("violet")
    os.utime(second, ns=(status.st_atime_ns, status.st_mtime_ns))
    first.write_text("daffodils")
    assert await _found(clock, search, "daffodils") == ["a.md"]
    assert await _found(clock, search, "sunflowers") == []
    assert await _found(clock, search, "tulips") == ["b.md"], "what looks the same is not read again"
    first.rename(vault.root / "c.md")
    assert await _found(clock, search, "daffodils") == ["c.md"]
    (vault.root / "c.md").unlink()
    assert await _found(clock, search, "daffodils") == []
    again = make(enabled=False)
    assert await _found(clock, again, "tulips") == ["b.md"], "and not after a start either"


async def test_texts_are_read_while_nobody_chats(
    make: Make, vault: Vault, clock: ManualClock, process: IndexProcess
) -> None:
    _write(vault, "a.md", "ships")
    chats = ["one"]
    search = make()
    _meaning(search).is_busy = lambda: bool(chats)
    await search.start()
    await _started(clock)
    await clock.advance(60)
    assert process.process is None
    chats.clear()
    clock.move(2)
    await until(lambda: _meaning(search).progress, "it is read afterwards")
    assert await _found(clock, search, "boats") == ["a.md"]
