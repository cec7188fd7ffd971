"""Texts of the vault are found by their words and their meaning, with the real process of the index."""

import os
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.config.vault.service import Vault
from parachute.events.file_watcher.service import Listener, VaultWatcher
from parachute.files.search import FileSearch
from tests.files.conftest import MakeMeaning, MakeSearch
from tests.llm.meaning.activator import IndexProcess
from tests.support.clock import ManualClock
from tests.support.waiting import until

pytestmark = pytest.mark.process


def _write(vault: Vault, path: str, content: str | bytes) -> Path:
    file = vault.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


async def _found(clock: ManualClock, search: FileSearch, question: str) -> list[str]:
    """Search when the last look is not fresh any more."""
    clock.move(4)
    return [each.path for each in (await search.search(question, 10))[0]]


async def test_words_come_first_and_then_what_means_the_same(
    make_meaning: MakeMeaning, make_search: MakeSearch, vault: Vault, clock: ManualClock
) -> None:
    _write(vault, "Notes/harbour.md", "---\ntitle: x\n---\nThree ships\nin the harbour.")
    _write(vault, "Notes/bread.txt", "bread from the oven, as grandmother made it")
    _write(vault, "Projekte/Übersicht.md", "Der Kostenplan für März.")
    meaning = make_meaning()
    search = make_search(meaning)
    await search.indexing.start()
    await _started(clock)
    await until(lambda: meaning.progress and not meaning.waiting, "everything is read")
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


async def test_words_of_scripts_without_spaces(
    make_meaning: MakeMeaning, make_search: MakeSearch, vault: Vault, clock: ManualClock
) -> None:
    _write(vault, "Notes/散步路线.md", "昨天和叔叔一起去灯塔。")
    meaning = make_meaning()
    search = make_search(meaning)
    await search.indexing.start()
    await _started(clock)
    await until(lambda: meaning.progress and not meaning.waiting, "everything is read")
    ((found,), _) = await search.search("灯塔", 10)
    assert (found.path, found.found_by, found.snippet) == ("Notes/散步路线.md", "words", "昨天和叔叔一起去灯塔。")
    assert await _found(clock, search, "路线") == ["Notes/散步路线.md"]


async def _started(clock: ManualClock) -> None:
    """Let so much time pass that the texts are read."""
    await clock.advance(9, "texts of the vault")
    clock.move(1)


async def test_what_devices_may_not_read_is_not_found(
    make_search: MakeSearch, vault: Vault, clock: ManualClock, tmp_path: Path
) -> None:
    for path in (
        *(".hidden/a.md", "Notes/.b.md", ".parachute/c.md", "keys.pem/d.md", "node_modules/x/e.md"),
        *("Notes/e.json", "Notes/f.md.bak"),
    ):
        _write(vault, path, "treasure")
    _write(vault, "Notes/binary.md", b"treasure\0")
    _write(vault, "Notes/latin.txt", b"treasure \xe4")
    (tmp_path / "outside.md").write_text("treasure")
    (vault.root / "Notes/link.md").symlink_to(tmp_path / "outside.md")
    (vault.root / "Linked").symlink_to(tmp_path)
    os.mkfifo(vault.root / "Notes/pipe.md")
    _write(vault, "Notes/large.md", "first " + "x " * 3_000_000 + "treasure")
    search = make_search()
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


async def test_only_what_has_changed_is_read_again(make_search: MakeSearch, vault: Vault, clock: ManualClock) -> None:
    first, second = _write(vault, "a.md", "sunflowers"), _write(vault, "b.md", "tulips")
    search = make_search()
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
    again = make_search()
    assert await _found(clock, again, "tulips") == ["b.md"], "and not after a start either"


async def test_texts_are_read_while_nobody_chats(
    make_meaning: MakeMeaning, make_search: MakeSearch, vault: Vault, clock: ManualClock, index_process: IndexProcess
) -> None:
    _write(vault, "a.md", "ships")
    chats = ["one"]
    meaning = make_meaning(chats)
    search = make_search(meaning)
    await search.indexing.start()
    await _started(clock)
    await clock.advance(60)
    assert index_process.process is None
    chats.clear()
    clock.move(2)
    await until(lambda: meaning.progress, "it is read afterwards")
    assert await _found(clock, search, "boats") == ["a.md"]


class TellingWatcher(VaultWatcher):
    """A watcher that a test lets tell."""

    def listen(self, listener: Listener, *, is_needed: bool = True) -> None:
        """Keep the listener."""
        self.tell = listener


async def test_what_is_told_to_have_changed_is_found_at_once(make_search: MakeSearch, vault: Vault) -> None:
    watcher = TellingWatcher(vault.root)
    search = make_search(watcher=watcher)
    await search.indexing.start()
    assert await search.search("ships", 10) == ([], None)
    _write(vault, "a.md", "ships")
    await watcher.tell(frozenset(["a.md"]))
    ((found,), _) = await search.search("ships", 10)
    assert found.path == "a.md"
    assert not search.indexing.has_changed


async def test_snippet_is_without_front_matter_and_ids(
    make_meaning: MakeMeaning, make_search: MakeSearch, vault: Vault, clock: ManualClock
) -> None:
    _write(
        vault, "a.md", "---\ncreated: 13:02\n---\n\n# para:daily:abcdefghijkl 12:54\n\nThree ships in the harbour.\n"
    )
    meaning = make_meaning()
    search = make_search(meaning)
    assert await _found(clock, search, "ships") == ["a.md"]
    await until(lambda: meaning.progress and not meaning.waiting, "everything is read")
    for question, found_by in (("boats", "meaning"), ("three ships", "words")):
        ((found,), _) = await search.search(question, 10)
        assert (found.found_by, "para:" in found.snippet) == (found_by, False)
        assert found.snippet.endswith("12:54 Three ships in the harbour.")
