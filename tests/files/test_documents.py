"""Documents of the vault are found with the page or line that has the words, and what cannot be read is told."""

import asyncio
import os
from pathlib import Path

import pytest

from parachute.config.vault.service import Vault
from parachute.files import texts
from parachute.files.documents.store import Document, DocumentStore
from parachute.files.progress import NotRead
from parachute.files.search import FileSearch, FoundFile
from tests.files.conftest import MakeMeaning, MakeSearch
from tests.files.documents import writing
from tests.files.documents.hostile import HOSTILE
from tests.support.clock import ManualClock
from tests.support.waiting import until

pytestmark = pytest.mark.process


def _write(vault: Vault, path: str, content: str | bytes) -> Path:
    file = vault.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


async def _found(clock: ManualClock, search: FileSearch, question: str) -> list[FoundFile]:
    """Search when the last look is not fresh any more."""
    clock.move(4)
    return (await search.search(question, 10))[0]


async def _all_read(search: FileSearch) -> None:
    await until(
        lambda: search.indexing.progress.total > 0 and search.indexing.progress.read == search.indexing.progress.total,
        "all is read",
    )


def _places(found: list[FoundFile]) -> dict[str, tuple[int | None, int | None, int | None]]:
    return {each.path: (each.page, each.chapter, each.line) for each in found}


async def test_each_kind_is_found_with_its_place(make_search: MakeSearch, vault: Vault, clock: ManualClock) -> None:
    said = "Kevin advises us on the boat."
    _write(vault, "Notes/a.md", f"---\ntitle: x\n---\n\nFirst\n\n{said}\n")
    _write(vault, "Papers/b.pdf", writing.pdf(["One", "Two", f"Three\n{said}"]))
    _write(vault, "Papers/c.docx", writing.docx([["One"], ["Two", said]]))
    _write(vault, "d.odt", writing.odt([["One"], ["Two"], ["Three"], [said]]))
    _write(vault, "e.epub", writing.epub(["<p>One</p>", f"<p>Two</p><p>{said}</p>"]))
    _write(vault, "f.html", f"<html>\n<body>\n<p>One\n<p>{said}\n</html>")
    _write(vault, "g.eml", writing.mail("Ships", f"Hello\n{said}"))
    _write(vault, "h.ics", writing.calendar(f"SUMMARY:{said}"))
    search = make_search()
    assert _places(await _found(clock, search, "kevin advises boat")) == {
        "Notes/a.md": (None, None, 7),
        "Papers/b.pdf": (3, None, None),
        "Papers/c.docx": (2, None, None),
        "d.odt": (4, None, None),
        "e.epub": (None, 2, None),
        "f.html": (None, None, 4),
        "g.eml": (None, None, 6),
        "h.ics": (None, None, 4),
    }


async def test_sentence_on_page_180(make_search: MakeSearch, vault: Vault, clock: ManualClock) -> None:
    pages = ["many words of a long book\n" * 30 for _ in range(200)]
    pages[179] += "Ottilie repairs organs."
    _write(vault, "book.pdf", writing.pdf(pages))
    search = make_search()
    (found,) = await _found(clock, search, "ottilie organs")
    assert (found.path, found.page) == ("book.pdf", 180)
    assert "Ottilie repairs organs." in found.snippet
    (found,) = await _found(clock, search, "many words of a long book")
    assert (found.path, found.page) == ("book.pdf", 1), "one hit for one file"


async def test_hit_by_meaning_has_its_beginning(
    make_meaning: MakeMeaning, make_search: MakeSearch, vault: Vault, clock: ManualClock
) -> None:
    _write(vault, "Papers/b.pdf", writing.pdf(["Three ships in the harbour."]))
    meaning = make_meaning()
    search = make_search(meaning)
    await _found(clock, search, "ships")
    await until(lambda: meaning.progress and not meaning.waiting, "meanings are known")
    (found,) = await _found(clock, search, "boats")
    assert (found.path, found.found_by, found.snippet) == ("Papers/b.pdf", "meaning", "Three ships in the harbour.")


async def test_what_has_failed_is_told_and_not_tried_again(
    make_search: MakeSearch, vault: Vault, clock: ManualClock
) -> None:
    bad = _write(vault, "bad.pdf", HOSTILE["locked.pdf"]())
    _write(vault, "good.docx", writing.docx([["treasure"]]))
    search = make_search()
    assert [each.path for each in await _found(clock, search, "treasure")] == ["good.docx"]
    assert search.indexing.progress.unreadable == {"bad.pdf": "encrypted"}
    # What the file says now, with the mark of before: nobody looks at it.
    status = bad.stat()
    bad.write_bytes(writing.pdf(["treasure"]).ljust(status.st_size, b" ")[: status.st_size])
    os.utime(bad, ns=(status.st_atime_ns, status.st_mtime_ns))
    again = make_search()
    assert [each.path for each in await _found(clock, again, "treasure")] == ["good.docx"]
    assert again.indexing.progress.unreadable == {"bad.pdf": "encrypted"}
    bad.write_bytes(writing.pdf(["treasure"]))
    await _found(clock, again, "treasure")
    await _all_read(again)
    assert {each.path for each in await _found(clock, again, "treasure")} == {"good.docx", "bad.pdf"}
    assert again.indexing.progress.unreadable == {}


async def test_newest_are_read_first_while_nobody_chats(
    make_meaning: MakeMeaning, make_search: MakeSearch, vault: Vault, clock: ManualClock
) -> None:
    for number in range(3):
        file = _write(vault, f"{number}.docx", writing.docx([["treasure"]]))
        os.utime(file, (number, number))
    _write(vault, "a.md", "treasure")
    chats = ["one"]
    search = make_search(make_meaning(chats, enabled=False))
    asked = asyncio.create_task(search.search("treasure", 10))
    await until(lambda: search.indexing.reading() is not None, "documents are waited for")
    await clock.advance(10)
    found, problem = await asked
    assert [each.path for each in found] == ["a.md"]
    assert problem
    assert (search.indexing.progress.read, search.indexing.progress.total) == (1, 4)
    assert list(search.indexing.waiting) == ["2.docx", "1.docx", "0.docx"]
    chats.clear()
    await clock.advance(2)
    await _all_read(search)
    assert len(await _found(clock, search, "treasure")) == 4


async def test_removed_documents_are_forgotten(
    make_search: MakeSearch, vault: Vault, clock: ManualClock, tmp_path: Path
) -> None:
    file = _write(vault, "a.docx", writing.docx([["treasure"]]))
    search = make_search()
    assert len(await _found(clock, search, "treasure")) == 1
    file.unlink()
    assert await _found(clock, search, "treasure") == []
    kept = DocumentStore(tmp_path / "documents")
    assert await kept.known() == {}
    await kept.close()


async def test_pictures_that_nobody_reads_are_counted(
    make_search: MakeSearch, vault: Vault, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("a.jpg", "b.PNG"):
        _write(vault, name, b"x")
    (tmp_path / "programs").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    assert texts.marks(vault.root).left_out == {"picture": 2}
    search = make_search()
    await _found(clock, search, "a")
    assert NotRead.of(search.indexing.progress).pictures == 2


async def test_changed_document_is_found_by_what_it_said_until_it_is_read(
    make_meaning: MakeMeaning, make_search: MakeSearch, vault: Vault, clock: ManualClock
) -> None:
    _write(vault, "a.docx", writing.docx([["treasure"]]))
    chats: list[str] = []
    search = make_search(make_meaning(chats, enabled=False))
    assert len(await _found(clock, search, "treasure")) == 1
    chats.append("one")
    _write(vault, "a.docx", writing.docx([["island"]]))
    _write(vault, "pirates.docx", writing.docx([["island"]]))
    assert [each.path for each in await _found(clock, search, "treasure")] == ["a.docx"]
    assert [each.path for each in await _found(clock, search, "pirates")] == ["pirates.docx"]
    chats.clear()
    await clock.advance(2)
    await _all_read(search)
    assert len(await _found(clock, search, "island")) == 2
    assert await _found(clock, search, "treasure") == []


async def test_what_could_not_be_opened_is_tried_again(
    make_meaning: MakeMeaning, make_search: MakeSearch, vault: Vault, clock: ManualClock, tmp_path: Path
) -> None:
    file = _write(vault, "a.docx", writing.docx([["treasure"]]))
    chats = ["one"]
    search = make_search(make_meaning(chats, enabled=False))
    await search.indexing.refresh()
    file.rename(tmp_path / "a.docx")
    chats.clear()
    await clock.advance(2)
    await _all_read(search)
    assert search.indexing.progress.unreadable == {"a.docx": "gone"}
    (tmp_path / "a.docx").rename(file)
    await _found(clock, search, "treasure")
    await _all_read(search)
    assert len(await _found(clock, search, "treasure")) == 1
    assert search.indexing.progress.unreadable == {}


async def test_no_more_is_read_than_may_be_kept(
    make_search: MakeSearch, vault: Vault, clock: ManualClock, tmp_path: Path
) -> None:
    status = _write(vault, "long.docx", b"x").stat()
    mark = f"{status.st_mtime_ns}-{status.st_size}-{status.st_ino}"
    kept = DocumentStore(tmp_path / "documents")
    await kept.write("long.docx", Document(mark, 1, None, 1_000_000_000), "x")
    await kept.close()
    _write(vault, "treasure.docx", writing.docx([["island"]]))
    search = make_search()
    assert [each.path for each in await _found(clock, search, "treasure")] == ["treasure.docx"], "by its name"
    assert search.indexing.problem
    assert await _found(clock, search, "island") == []
