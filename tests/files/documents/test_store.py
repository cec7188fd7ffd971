"""Texts of documents are kept, and given as far as they are needed."""

from pathlib import Path

from parachute.files.documents.store import Document, DocumentStore

_FIRST = Document("1-1-1", 1, None, 5)


async def test_first_letters_of_a_text(tmp_path: Path) -> None:
    store = DocumentStore(tmp_path)
    await store.write("a.pdf", _FIRST, "äö🚢xy")
    assert await store.known() == {"a.pdf": _FIRST}
    assert [await store.text("a.pdf", letters) for letters in (0, 2, 3, 9)] == ["äö🚢xy", "äö", "äö🚢", "äö🚢xy"]
    assert await store.text("b.pdf", 2) == ""
    await store.close()


async def test_damaged_database_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "texts.db").write_bytes(b"no database" * 1_000)
    (tmp_path / "texts.db.suspect").touch()
    store = DocumentStore(tmp_path)
    assert await store.known() == {}
    await store.write("a.pdf", _FIRST, "x")
    await store.close()
    assert not (tmp_path / "texts.db.suspect").exists()
