"""A look at the vault forgets nothing that it has not reached, and asks the index within bounds."""

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.files.documents.store import Document, DocumentStore
from parachute.files.looking import Look, look
from parachute.files.texts import Marks

_NOW = 1_000 * 10**9


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[DocumentStore]:
    made = DocumentStore(tmp_path / "documents")
    yield made
    await made.close()


async def _look(root: Path, store: DocumentStore, lately: frozenset[str] = frozenset()) -> Look:
    return await look(root, store, Marks(), lately, _NOW)


def _write(root: Path, path: str, changed: int = 0) -> str:
    """Write a file; its mark."""
    (root / path).touch()
    os.utime(root / path, (changed, changed))
    status = (root / path).stat()
    return f"{status.st_mtime_ns}-{status.st_size}-{status.st_ino}"


async def test_unread_documents_are_wanted_by_their_names_and_changed_ones_as_they_were(
    root: Path, store: DocumentStore
) -> None:
    mark = _write(root, "read.html")
    for path in ("new.html", "changed.html"):
        _write(root, path)
    await store.write("read.html", Document(mark, 1, None, 1), "x")
    await store.write("changed.html", Document("before", 2, None, 1), "x")
    found = await _look(root, store)
    assert found.wanted == {"new.html": "", "read.html": mark, "changed.html": "before", "changed.html//1": "before"}
    assert set(found.waiting) == {"new.html", "changed.html"}
    assert found.letters == 2


async def test_what_was_read_lately_waits_for_the_others(root: Path, store: DocumentStore) -> None:
    for path, changed in (("old.html", 100), ("newer.html", 200), ("again.html", 300), ("future.html", 9_000)):
        _write(root, path, changed)
    found = await _look(root, store, frozenset(["again.html", "future.html"]))
    assert list(found.waiting) == ["newer.html", "old.html", "future.html", "again.html"]


async def test_pictures_are_read_last_or_not_at_all(
    root: Path, store: DocumentStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tesseract").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for path, changed in (("old.html", 100), ("new.png", 300)):
        _write(root, path, changed)
    assert list((await _look(root, store)).waiting) == ["old.html", "new.png"]
    without = await look(root, store, Marks(), (), _NOW, pictures=False)
    assert (list(without.waiting), without.marks.left_out) == (["old.html"], {})


async def test_answer_has_room_for_the_longest_keys(root: Path, store: DocumentStore) -> None:
    name = "🚢" * 60
    folder = root / name / name / name
    folder.mkdir(parents=True)
    (folder / f"{name[:20]}.md").touch()
    (folder / name).mkdir()
    (folder / name / f"{name}.md").touch()
    _write(root, "a.md")
    found = await _look(root, store)
    assert sorted(path.rpartition("/")[2] for path in found.wanted) == ["a.md", f"{name[:20]}.md"]
    assert found.most * max(len(json.dumps(key)) + 2 for key in found.wanted) < 4 << 20
    assert found.most > 500


@pytest.mark.long
async def test_any_number_of_documents_leaves_texts_and_what_was_read(root: Path, store: DocumentStore) -> None:
    for number in range(20_003):
        (root / f"{number}.html").touch()
    (root / "notes").mkdir()
    (root / "notes/a.md").touch()
    for path in ("gone.html", *(f"{number}.html" for number in range(20_003))):
        if path == "gone.html" or path.startswith("1999"):
            await store.write(path, Document("x", 1, None, 1), "x")
    found = await _look(root, store)
    assert "notes/a.md" in found.wanted
    assert found.marks.problem
    assert found.gone == ["gone.html"]
    assert "gone.html" not in await store.known()
    assert len(await store.known()) == sum(f"{number}".startswith("1999") for number in range(20_003))
