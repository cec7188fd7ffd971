"""Putting a folder in the place of another: what was there before is never removed, whatever lies around it."""

import json
import os
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from parachute.backup import restore, swap
from parachute.backup.places import Places
from parachute.backup.swap import Swap
from parachute.errors import Conflict

MOMENT = datetime(2026, 6, 30, 12, tzinfo=UTC)


class Folders:
    """A vault, what is to replace it, and the folder of trust."""

    def __init__(self, folder: Path) -> None:
        self.home, self.vault = folder / ".parachute", folder / "disk" / "Parachute"
        self.source = self.vault.with_name(".Parachute.restoring") / "files"
        for path, text in ((self.vault, "present"), (self.source, "restored")):
            path.mkdir(parents=True)
            (path / "note").write_text(text)
        self.home.mkdir()
        self.journal = folder / ".parachute.restore.json"
        self.places = Places(self.home, self.vault)
        self.swap = Swap.planned(self.vault, self.source, MOMENT)

    def cut_off(self, *steps: tuple[str, str]) -> None:
        """Leave what a power cut leaves after these renames, each of a field of the swap to another one."""
        self.journal.write_text(json.dumps(asdict(self.swap)))
        for before, after in steps:
            Path(getattr(self.swap, before)).rename(getattr(self.swap, after))

    def notes(self) -> dict[str, str]:
        """Every note beside the vault, by its folder."""
        return {str(path.parent.relative_to(self.vault.parent)): path.read_text() for path in self._notes()}

    def _notes(self) -> list[Path]:
        return sorted(self.vault.parent.rglob("note"))


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """A vault and its replacement."""
    return Folders(tmp_path)


def test_a_name_that_is_taken_is_not_taken_from_it(folders: Folders) -> None:
    taken = Path(folders.swap.kept)
    taken.symlink_to("nowhere")  # a name is taken as well by what leads nowhere
    Path(f"{taken}-2").mkdir()
    planned = Swap.planned(folders.vault, folders.source, MOMENT)
    assert planned.kept == f"{taken}-3"
    assert swap.perform(folders.home, planned) == Path(f"{taken}-3")
    assert folders.notes() == {"Parachute": "restored", f"{taken.name}-3": "present"}
    assert taken.is_symlink()


@pytest.mark.parametrize("what", ["a file", "a folder"])
def test_a_name_that_was_taken_since_is_not_taken_from_it(folders: Folders, what: str) -> None:
    folders.cut_off(("source", "new"), ("current", "kept"), ("new", "current"), ("kept", "new"))  # exchanged
    taken = Path(folders.swap.kept)
    if what == "a file":
        taken.write_text("mine")
    else:
        taken.mkdir()  # an empty one could be replaced
    status = taken.stat()
    assert "complete now" in (swap.recover(folders.home) or "")
    assert os.path.samestat(taken.stat(), status)
    assert sorted(folders.notes().values()) == ["present", "restored"]
    assert folders.notes()["Parachute"] == "restored"


def test_names_are_on_the_disk_before_it_is_forgotten_what_was_to_be_done(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.cut_off(("source", "new"), ("current", "kept"), ("new", "current"), ("kept", "new"))
    synced = []
    monkeypatch.setattr(
        swap, "sync_names", lambda folder: synced.append((folder, folders.journal.exists(), folders.notes()))
    )
    swap.recover(folders.home)
    done = {"Parachute": "restored", Path(folders.swap.kept).name: "present"}
    assert synced == [(folders.vault.parent, True, done)]
    assert not folders.journal.exists()


def test_a_swap_whose_disk_is_not_there_is_not_dropped(folders: Folders) -> None:
    folders.cut_off(("source", "new"), ("current", "kept"), ("new", "current"), ("kept", "new"))
    disk = folders.vault.parent
    away = disk.rename(disk.with_name("unplugged"))
    disk.mkdir()
    with pytest.raises(Conflict, match="cannot be told") as refused:
        restore.recover(folders.places)
    assert "Is the disk mounted" in (refused.value.hint or "")
    folders.vault.mkdir()  # as the computer does that is started meanwhile
    with pytest.raises(Conflict, match="cannot be told"):
        restore.recover(folders.places)
    folders.vault.rmdir()
    disk.rmdir()
    away.rename(disk)
    assert "complete now" in (restore.recover(folders.places) or "")
    assert folders.notes() == {"Parachute": "restored", Path(folders.swap.kept).name: "present"}


@pytest.mark.parametrize("steps", [(), (("source", "new"),)])
def test_a_swap_that_had_changed_nothing_is_dropped_with_its_folder(
    folders: Folders, steps: tuple[tuple[str, str], ...]
) -> None:
    folders.cut_off(*steps)
    assert "is dropped" in (restore.recover(folders.places) or "")
    assert folders.notes() == {"Parachute": "present"}
    assert [path.name for path in folders.vault.parent.iterdir()] == ["Parachute"]
    assert restore.recover(folders.places) is None


def test_a_folder_of_which_nothing_is_written_down_is_not_removed(folders: Folders) -> None:
    # As with a restore that was cut off with another folder of trust.
    folders.vault.rename(folders.swap.new)
    folders.source.rename(folders.vault)
    with pytest.raises(Conflict, match="cannot be told"):
        restore.recover(folders.places)
    assert folders.notes() == {"Parachute": "restored", ".Parachute.restored": "present"}


def test_a_swap_that_fails_in_between_is_completed_later(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if folders.vault in (path, target) and not folders.vault.exists():
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output"):
        swap.perform(folders.home, folders.swap)
    assert folders.swap.has_moved
    monkeypatch.undo()
    assert "complete now" in (restore.recover(folders.places) or "")
    assert folders.notes() == {"Parachute": "restored", Path(folders.swap.kept).name: "present"}


def test_a_swap_that_cannot_begin_leaves_nothing(folders: Folders) -> None:
    gone = replace(folders.swap, source=str(folders.source / "gone"))
    with pytest.raises(FileNotFoundError):
        swap.perform(folders.home, gone)
    assert not folders.journal.exists()
    assert folders.notes()["Parachute"] == "present"


def test_what_was_to_be_done_before_it_had_a_source_is_understood(folders: Folders) -> None:
    folders.cut_off(("source", "new"), ("current", "kept"), ("new", "current"), ("kept", "new"))
    folders.journal.write_text(json.dumps({**asdict(folders.swap), "source": ""}))
    assert "complete now" in (restore.recover(folders.places) or "")
