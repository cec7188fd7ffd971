"""Files that runs wrote: which they are, what had been read when they were written, and that it never rises."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.chat.changes import lineage as module
from parachute.chat.changes import store
from parachute.chat.changes.lineage import Lineage
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


async def test_a_link_to_a_project_is_the_project(lineage: Lineage, project: Path) -> None:
    link = project.parent / "link"
    link.symlink_to(project)
    await lineage.wrote(link, ["mine.md"], Origin.WEB)
    assert await lineage.lowest_of([project / "mine.md"]) is Origin.WEB
    assert await lineage.lowest_of([link / "mine.md"]) is Origin.WEB
