"""Files that runs wrote: which they are, what had been read when they were written, and that it never rises."""

import hashlib
import os
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.changes import contents as contents_module
from parachute.changes import lineage as module
from parachute.changes import store
from parachute.changes.contents import Content, unpacked
from parachute.changes.lineage import Lineage
from parachute.security.origin import Origin


@pytest.fixture
async def lineage(tmp_path: Path) -> AsyncIterator[Lineage]:
    """One with a database of its own."""
    database = Database(tmp_path / "changes.db", store.ALL)
    await database.open()
    yield Lineage(database)
    await database.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with three files."""
    folder = tmp_path / "project"
    (folder / "notes").mkdir(parents=True)
    for name in ("mine.md", "notes/page.md", "notes-2.md"):
        (folder / name).write_text("")
    return folder


async def test_a_file_and_the_folders_above_it_count_and_its_neighbours_do_not(lineage: Lineage, project: Path) -> None:
    assert await lineage.lowest_of([project]) is None
    await lineage.wrote(project, ["notes/page.md"], Origin.WEB)
    for place in (project / "notes/page.md", project / "notes", project, project.parent):
        assert await lineage.lowest_of([place]) is Origin.WEB
    for place in (project / "mine.md", project / "notes-2.md", project / "notes/page.md.old"):
        assert await lineage.lowest_of([place]) is None
    await lineage.wrote(project, ["mine.md"], Origin.OWNER)
    assert await lineage.lowest_of([project / "mine.md"]) is Origin.AGENT_FILE
    assert await lineage.lowest_of([project]) is Origin.WEB


async def test_it_never_rises_and_what_is_gone_counts_no_more(lineage: Lineage, project: Path) -> None:
    page = project / "notes/page.md"
    await lineage.wrote(project, ["notes/page.md"], Origin.IMPORT)
    await lineage.wrote(project, ["notes/page.md"], Origin.WEB)
    assert await lineage.lowest_of([page]) is Origin.IMPORT
    page.unlink()
    assert await lineage.lowest_of([project]) is None


async def test_of_very_many_files_the_whole_project_counts(
    lineage: Lineage, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST", 3)
    await lineage.wrote(project, ["a", "b"], Origin.WEB)
    assert await lineage.lowest_of([project / "mine.md"]) is None
    await lineage.wrote(project, ["c", "d"], Origin.AGENT_FILE)
    assert await lineage.lowest_of([project / "mine.md"]) is Origin.WEB
    await lineage.wrote(project, ["mine.md"], Origin.GUEST)
    assert await lineage.lowest_of([project / "notes"]) is Origin.GUEST
    assert await lineage.lowest_of([project.parent / "other"]) is None


async def test_of_very_many_places_the_lowest_counts(lineage: Lineage, project: Path) -> None:
    await lineage.wrote(project, ["mine.md"], Origin.WEB)
    places = [project.parent / f"folder-{number}" for number in range(1_500)]
    assert await lineage.lowest_of(places) is None
    assert await lineage.lowest_of([*places, project]) is Origin.WEB


async def test_a_link_to_a_project_is_the_project(lineage: Lineage, project: Path) -> None:
    link = project.parent / "link"
    link.symlink_to(project)
    await lineage.wrote(link, ["mine.md"], Origin.WEB)
    assert await lineage.lowest_of([project / "mine.md"]) is Origin.WEB
    assert await lineage.lowest_of([link / "mine.md"]) is Origin.WEB


def hash_of(data: bytes) -> Content:
    """The content that a run has written."""
    return hashlib.sha256(data).hexdigest(), len(data)


async def test_a_content_keeps_its_origin_wherever_it_is_and_however_it_got_there(
    lineage: Lineage, project: Path
) -> None:
    page, elsewhere = b"Remember: evil.", project.parent / "elsewhere"
    elsewhere.mkdir()
    await lineage.wrote(project, ["page.md"], Origin.WEB, [hash_of(page)])
    await lineage.wrote(project, ["again.md"], Origin.AGENT_FILE, [hash_of(page), hash_of(b"")])
    copy = elsewhere / "copy.md"
    copy.write_bytes(page)
    (elsewhere / "mine.md").write_bytes(page.upper())
    (elsewhere / "empty.md").write_bytes(b"")
    assert await lineage.lowest_of([copy]) is Origin.WEB
    assert await lineage.lowest_of([elsewhere]) is Origin.WEB
    assert await lineage.lowest_of([elsewhere / "mine.md", elsewhere / "empty.md"]) is None
    copy.write_text("My own words.")
    assert await lineage.lowest_of([elsewhere]) is None


async def test_what_is_too_much_to_look_at_may_be_any_content(
    lineage: Lineage, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents_module, "_ENTRIES", 2)
    assert await lineage.lowest_of([project]) is None
    await lineage.wrote(project.parent / "other", ["page.md"], Origin.WEB, [hash_of(b"Evil.")])
    assert await lineage.lowest_of([project]) is Origin.WEB


async def test_the_name_of_a_folder_is_told_by_what_lies_above_it_and_not_by_what_lies_in_it(
    lineage: Lineage, project: Path
) -> None:
    (project / "notes/IMPORTANT for agents").mkdir()
    await lineage.wrote(project, ["notes/IMPORTANT for agents/"], Origin.WEB)
    assert await lineage.lowest_of([project / "notes"]) is Origin.WEB
    assert await lineage.lowest_of([project / "notes/IMPORTANT for agents/mine.md"]) is None


async def test_a_repository_counts_as_a_whole_whatever_git_packs(lineage: Lineage, project: Path) -> None:
    (project / ".git/objects/pack").mkdir(parents=True)
    await lineage.wrote(project, [".git/objects/ab/cdef", ".git/refs/heads/feature"], Origin.WEB)
    assert await lineage.lowest_of([project / ".git/objects/pack"]) is Origin.WEB
    assert await lineage.lowest_of([project]) is Origin.WEB
    assert await lineage.lowest_of([project / "mine.md"]) is None


async def test_what_is_moved_takes_along_what_is_known_of_its_place(lineage: Lineage, project: Path) -> None:
    await lineage.wrote(project, ["notes/page.md", "notes/evil/"], Origin.WEB)
    (project / "notes/evil").mkdir()
    moved = project.parent / "moved"
    await lineage.moved(project / "notes", moved)
    (project / "notes").rename(moved)
    (moved / "page.md").write_text("Changed since.")
    assert await lineage.lowest_of([moved / "page.md"]) is Origin.WEB
    assert await lineage.lowest_of([project]) is None
    await lineage.wrote(project, [""], Origin.GUEST)
    await lineage.moved(project / "mine.md", moved / "mine.md")
    (project / "mine.md").rename(moved / "mine.md")
    assert await lineage.lowest_of([moved / "mine.md"]) is Origin.GUEST


async def test_what_git_will_check_out_is_the_content_of_its_object(project: Path) -> None:
    data = os.urandom(3 << 20)
    packed = zlib.compress(b"blob %d\0" % len(data) + data)
    assert unpacked([packed[:7], packed[7:]]) == hash_of(data)
    assert unpacked([zlib.compress(b"commit 4\0Evil")]) is None
