"""Putting a folder in the place of another: what was there before is never removed, whatever lies around it."""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from parachute.base import swap
from parachute.base.errors import Conflict
from parachute.base.swap import Swap
from parachute.ops.backup import restore
from parachute.ops.backup.places import Places

pytestmark = pytest.mark.long

MOMENT = datetime(2026, 6, 30, 12, tzinfo=UTC)


class Folders:
    """A vault, what is to replace it, and the state directory."""

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


def test_names_are_on_the_disk_before_it_is_forgotten_what_was_to_be_done(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders.cut_off(("current", "kept"))
    synced = []
    monkeypatch.setattr(
        swap, "sync_names", lambda folder: synced.append((folder, folders.journal.exists(), folders.notes()))
    )
    swap.recover(folders.home)
    done = {"Parachute": "restored", Path(folders.swap.kept).name: "present"}
    assert synced == [(folders.vault.parent, True, done)]
    assert not folders.journal.exists()


@pytest.mark.parametrize("steps", [(("current", "kept"),), (("current", "kept"), ("source", "current"))])
def test_a_swap_whose_disk_is_not_there_is_not_dropped(folders: Folders, steps: tuple[tuple[str, str], ...]) -> None:
    folders.cut_off(*steps)
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


def test_a_swap_that_had_changed_nothing_is_dropped_with_its_folder(folders: Folders) -> None:
    folders.cut_off()
    assert "is dropped" in (restore.recover(folders.places) or "")
    assert folders.notes() == {"Parachute": "present"}
    assert [path.name for path in folders.vault.parent.iterdir()] == ["Parachute"]
    assert restore.recover(folders.places) is None


@pytest.mark.parametrize("also_back", [True, False])
def test_a_swap_that_fails_in_between_is_taken_back(
    folders: Folders, monkeypatch: pytest.MonkeyPatch, also_back: bool
) -> None:
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if target == folders.vault and (path == folders.source or not also_back):
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output"):
        swap.perform(folders.home, folders.swap)
    assert not folders.journal.exists()
    notes = folders.notes()
    assert notes["Parachute" if also_back else Path(folders.swap.kept).name] == "present"


def test_a_swap_that_cannot_begin_leaves_nothing(folders: Folders) -> None:
    gone = replace(folders.swap, source=str(folders.source / "gone"))
    with pytest.raises(FileNotFoundError):
        swap.perform(folders.home, gone)
    assert not folders.journal.exists()
    assert folders.notes()["Parachute"] == "present"


def test_what_an_earlier_version_was_about_to_do_is_left_to_a_person(folders: Folders) -> None:
    folders.journal.write_text(json.dumps({**asdict(folders.swap), "new": "/x"}))
    with pytest.raises(Conflict, match="cannot be read") as refused:
        restore.recover(folders.places)
    assert refused.value.hint
    assert folders.notes()["Parachute"] == "present"
