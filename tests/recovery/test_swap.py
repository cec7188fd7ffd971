"""Putting a folder in the place of another: what was there before is never removed, whatever lies around it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from parachute.base import swap, swap_note
from parachute.base.exchange import exchanged
from parachute.base.swap import Plan, Swap
from parachute.ops.backup import restore
from parachute.ops.backup.places import Places
from tests.support.errors import raises

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
        self.plan = Plan((self.swap,))

    def cut_off(self, *steps: tuple[str, str]) -> None:
        """Leave what a power cut leaves after these renames, each of a field of the swap to another one."""
        self.journal.write_text(msgspec.json.encode(self.plan).decode())
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
    swap.perform(folders.home, Plan((planned,)))
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
    assert synced == [(folders.vault.parent, True, done), (folders.source.parent, True, done)]
    assert not folders.journal.exists()


@pytest.mark.parametrize("steps", [(("current", "kept"),), (("current", "kept"), ("source", "current"))])
def test_a_swap_whose_disk_is_not_there_is_not_dropped(folders: Folders, steps: tuple[tuple[str, str], ...]) -> None:
    folders.cut_off(*steps)
    disk = folders.vault.parent
    away = disk.rename(disk.with_name("unplugged"))
    disk.mkdir()
    with raises("restored_unknown") as refused:
        restore.recover(folders.places)
    assert "Is the disk mounted" in (refused.value.hint or "")
    folders.vault.mkdir()  # as the computer does that is started meanwhile
    with raises("restored_unknown"):
        restore.recover(folders.places)
    folders.vault.rmdir()
    disk.rmdir()
    away.rename(disk)
    assert "complete now" in (restore.recover(folders.places) or "")
    assert folders.notes() == {"Parachute": "restored", Path(folders.swap.kept).name: "present"}


def test_what_was_ordered_is_done_by_the_next_start(folders: Folders) -> None:
    swap.order(folders.home, folders.plan)
    assert folders.notes()["Parachute"] == "present"
    assert swap.is_ordered(folders.home)
    assert "is restored now" in (restore.recover(folders.places) or "")
    assert folders.notes() == {"Parachute": "restored", Path(folders.swap.kept).name: "present"}
    assert (swap.is_ordered(folders.home), restore.recover(folders.places)) == (False, None)


@pytest.mark.parametrize("also_back", [True, False])
def test_a_swap_that_fails_in_between_is_taken_back(
    folders: Folders, monkeypatch: pytest.MonkeyPatch, also_back: bool
) -> None:
    rename = Path.rename
    monkeypatch.setattr(swap, "exchanged", lambda one, other: False)  # as on a file system that cannot

    def failing(path: Path, target: Path) -> Path:
        if target == folders.vault and (path == folders.source or not also_back):
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output"):
        swap.perform(folders.home, folders.plan)
    assert not folders.journal.exists()
    notes = folders.notes()
    assert notes["Parachute" if also_back else Path(folders.swap.kept).name] == "present"


def test_a_swap_that_cannot_begin_leaves_nothing(folders: Folders) -> None:
    gone = replace(folders.swap, source=str(folders.source / "gone"))
    with pytest.raises(FileNotFoundError):
        swap.perform(folders.home, Plan((gone,)))
    assert not folders.journal.exists()
    assert folders.notes()["Parachute"] == "present"


def test_what_an_earlier_version_was_about_to_do_is_left_to_a_person(folders: Folders) -> None:
    folders.journal.write_text(json.dumps(to_builtins(folders.swap)))
    with raises("order_unreadable") as refused:
        restore.recover(folders.places)
    assert refused.value.hint
    assert folders.notes()["Parachute"] == "present"


@pytest.fixture
def both(folders: Folders) -> Plan:
    """The vault and the state directory are to be replaced together."""
    source = folders.home.with_name(".parachute.restored")
    for path, text in ((folders.home, "present"), (source, "restored")):
        path.mkdir(exist_ok=True)
        (path / "keys").write_text(text)
    second = Swap.planned(folders.home, source, MOMENT)
    note = str(swap_note.path_of(folders.home))
    return Plan((folders.swap, second), ("panic.json",), note, {"kind": swap_note.RESTORE, "backup": "0badf00d"})


def test_two_folders_go_together_and_what_is_of_the_last_moment_goes_along(folders: Folders, both: Plan) -> None:
    swap.order(folders.home, both)
    (folders.home / "panic.json").write_text("{}")  # after everything was made ready
    swap.recover(folders.home)
    assert ((folders.home / "keys").read_text(), folders.notes()["Parachute"]) == ("restored", "restored")
    assert (folders.home / "panic.json").exists()
    note = swap_note.read(folders.home)
    assert note is not None
    assert (note.problem, note.is_proven, note.about["backup"]) == (None, False, "0badf00d")
    assert note.kept == [Path(each.kept) for each in both.swaps]


@pytest.mark.parametrize("in_one_step", [True, False])
def test_if_the_second_cannot_move_the_first_goes_back(
    folders: Folders, both: Plan, monkeypatch: pytest.MonkeyPatch, in_one_step: bool
) -> None:
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if Path(target) == folders.home and path == Path(both.swaps[1].source):
            raise OSError(28, "No space left on device")
        return rename(path, target)

    def failing_too(one: Path, other: Path) -> bool:
        if in_one_step and other == folders.home:
            raise OSError(28, "No space left on device")
        return in_one_step and exchanged(one, other)

    monkeypatch.setattr(Path, "rename", failing)
    monkeypatch.setattr(swap, "exchanged", failing_too)
    swap.order(folders.home, both)
    with pytest.raises(OSError, match="No space"):
        swap.recover(folders.home)
    assert ((folders.home / "keys").read_text(), folders.notes()["Parachute"]) == ("present", "present")
    note = swap_note.read(folders.home)
    assert note is not None
    assert (note.problem, note.kept) == ("No space left on device", [])
    assert [Path(each.source).exists() for each in both.swaps] == [True, True]
    assert not swap.is_ordered(folders.home)


def test_cut_off_after_the_names_were_exchanged_what_was_before_gets_its_own(folders: Folders, both: Plan) -> None:
    swap.order(folders.home, both)
    assert exchanged(folders.source, folders.vault)
    assert "What was there before is" in (swap.recover(folders.home) or "")
    assert folders.notes() == {"Parachute": "restored", Path(folders.swap.kept).name: "present"}


def test_cut_off_between_two_folders_both_are_finished(folders: Folders, both: Plan) -> None:
    swap.order(folders.home, both)
    first = both.swaps[0]
    Path(first.current).rename(first.kept)
    Path(first.source).rename(first.current)
    swap.recover(folders.home)
    assert ((folders.home / "keys").read_text(), folders.notes()["Parachute"]) == ("restored", "restored")


def test_going_back_brings_both_and_keeps_what_was_restored(folders: Folders, both: Plan) -> None:
    swap.perform(folders.home, both)
    note = swap_note.read(folders.home)
    assert note is not None
    swap.perform(folders.home, swap_note.back(note, problem="It did not start."))
    assert ((folders.home / "keys").read_text(), folders.notes()["Parachute"]) == ("present", "present")
    after = swap_note.read(folders.home)
    assert after is not None
    assert (after.kind, after.about["problem"]) == (swap_note.BACK, "It did not start.")
    assert [(path / "keys").read_text() for path in after.kept if (path / "keys").exists()] == ["restored"]
