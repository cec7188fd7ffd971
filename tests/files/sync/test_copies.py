"""Copies that other programs leave beside a file: each is one card, and no text that is searched."""

from pathlib import Path

import pytest

from parachute.files.texts import marks

from .home import Home

COPIES = (
    "garden.sync-conflict-20260131-120000-ABCDEFG.md",
    "garden (Conflicted copy laptop 202601311200).md",
    "garden (Kevin's conflicted copy 2026-01-31).md",
    "garden (In Konflikt stehende Kopie von Kevin 2026-01-31).md",
    "garden.conflict-20260131-abcdef12.md",
)


@pytest.mark.parametrize("name", [*COPIES, "garden 2.md"])
def test_a_copy_is_a_card(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "vault/Notes"
    folder.mkdir(parents=True)
    (folder / "garden.md").write_text("Sow peas.\n\nWater beans.\n")
    (folder / name).write_text("Sow peas.\n\nWater leeks.\n")
    home = Home(tmp_path)
    try:
        (item,) = home.run(home.inbox.items())
        assert (item.details["path"], item.details["copy"]) == ("Notes/garden.md", f"Notes/{name}")
        home.answer(item.key, "merge")
        assert [each.name for each in folder.iterdir()] == ["garden.md"]
        assert (folder / "garden.md").read_text() == "Sow peas.\n\nWater beans.\n\nWater leeks.\n"
    finally:
        home.close()


def test_a_second_chapter_is_no_copy(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "book.md").write_text("It began in March.\n")
    (folder / "book 2.md").write_text("It went on in May.\n")
    # The original of this one is gone: it is a file like any other.
    (folder / COPIES[0]).write_text("Sow peas.\n")
    home = Home(tmp_path)
    try:
        assert home.run(home.inbox.items()) == []
    finally:
        home.close()
    assert set(marks(folder).texts) == {"book.md", "book 2.md", COPIES[0]}


def test_a_copy_is_not_searched(tmp_path: Path) -> None:
    for name in ("garden.md", *COPIES):
        (tmp_path / name).write_text("Sow peas.\n")
    assert set(marks(tmp_path).texts) == {"garden.md"}


def test_a_version_that_changed_is_shown_again(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "garden.md").write_text("Sow peas.\n")
    (folder / COPIES[0]).write_text("Sow beans.\n")
    home = Home(tmp_path)
    try:
        (item,) = home.run(home.inbox.items())
        (folder / "garden.md").write_text("Sow leeks.\n")
        (again,) = home.run(home.inbox.items())
        assert again.id == item.id
        assert again.hash != item.hash
    finally:
        home.close()
