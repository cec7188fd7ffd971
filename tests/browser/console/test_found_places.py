"""A hit in a file is opened where the words are: a page of a PDF file, a line of a text."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.console.people import Person
from tests.files.documents import writing
from tests.files.documents.hostile import HOSTILE
from tests.support.computer import Computer

pytestmark = pytest.mark.long

_SAID = "Kevin advises us on the zeppelin boat."


@pytest.fixture(scope="module")
def vault(computer: Computer) -> Path:
    """The vault, with one sentence in files of several kinds."""
    folder = computer.vault / "Places"
    folder.mkdir()
    (folder / "boat.pdf").write_bytes(writing.pdf(["One", "Two", _SAID]))
    (folder / "offer.docx").write_bytes(writing.docx([["One"], [_SAID]]))
    (folder / "plain.txt").write_text("line\n" * 300 + _SAID + "\nline" * 300)
    (folder / "note.md").write_text(
        "---\ntitle: x\n---\n# Head\n" + "\nA paragraph.\n" * 100 + f"\n{_SAID}\n" + "\nAfter.\n" * 100
    )
    (folder / "locked.pdf").write_bytes(HOSTILE["locked.pdf"]())
    return computer.vault


def test_hits_lead_to_their_places(person: Person, vault: Path) -> None:
    page = person.open("files")
    page.get_by_role("searchbox", name="Search all files").fill("kevin zeppelin")
    found = page.get_by_role("list", name="Search results")
    expect(found.get_by_role("link")).to_have_count(4)
    for name, place in (("boat.pdf", "page 3"), ("offer.docx", "page 2"), ("plain.txt", "line 301")):
        expect(found.get_by_role("listitem").filter(has_text=name)).to_contain_text(place)
    expect(page.get_by_text("1 file could not be read")).to_be_visible()
    found.get_by_role("link", name="boat.pdf").click()
    link = page.get_by_role("link", name="Open page 3")
    expect(link).to_have_attribute("target", "_blank")
    assert str(link.get_attribute("href")).endswith("#page=3")
    page.go_back()
    page.get_by_role("searchbox", name="Search all files").fill("kevin zeppelin")
    found.get_by_role("link", name="offer.docx").click()
    expect(page.get_by_text("Found on page 2.")).to_be_visible()


@pytest.mark.parametrize(("name", "line"), [("plain.txt", 301), ("note.md", 206)])
def test_line_is_marked_and_in_sight(person: Person, vault: Path, name: str, line: int) -> None:
    page = person.open(f"files/Places?file={name}&line={line}")
    marked = page.locator(".files-text mark, .markdown .is-found")
    expect(marked).to_have_text(_SAID)
    expect(marked).to_be_in_viewport()
