"""A vault that was here and is not: an empty place of a disk is never taken for it."""

import asyncio
import shutil
from pathlib import Path

import pytest

from parachute.base.known_files import KnownFiles
from parachute.config.vault.place import MARK, VaultMissing, VaultPlace
from parachute.config.vault.watch import VaultWatch
from tests.support.clock import ManualClock


@pytest.fixture
def place(tmp_path: Path) -> VaultPlace:
    """The place of a vault that was used."""
    (tmp_path / "home").mkdir()
    found = VaultPlace(tmp_path / "home", tmp_path / "vault")
    assert not found.is_missing()
    (found.vault / ".parachute").mkdir(parents=True)
    (found.vault / ".parachute" / "sessions.db").touch()
    KnownFiles(found.home).add([found.vault / ".parachute" / "sessions.db"])
    assert not found.settle()
    return found


def unmount(place: VaultPlace, *, leaves: str = "") -> None:
    shutil.rmtree(place.vault)
    (place.vault / leaves).mkdir(parents=True)


@pytest.mark.parametrize("leaves", ["", "Daily", ".parachute/audit"])
def test_an_empty_place_is_no_vault_until_somebody_says_so(place: VaultPlace, leaves: str) -> None:
    place.check()
    unmount(place, leaves=leaves)
    with pytest.raises(VaultMissing) as caught:
        place.check()
    assert caught.value.key == "vault_missing"
    assert f"parachute vault set {place.vault} --create" in str(caught.value.hint)
    place.begin_anew()
    place.check()


def test_another_place_and_another_vault_in_it_are_taken(place: VaultPlace, tmp_path: Path) -> None:
    moved = VaultPlace(place.home, tmp_path / "moved")
    place.vault.rename(moved.vault)
    moved.check()
    assert not moved.settle()
    other = VaultPlace(tmp_path, place.vault)
    (place.vault / ".parachute").mkdir(parents=True)
    other.settle()
    place.check()
    assert place.settle(), "it is another one than was here"
    assert not place.settle()


def test_a_vault_from_a_backup_that_is_older_than_its_name_keeps_it(place: VaultPlace) -> None:
    mark = place.vault / ".parachute" / MARK
    name = mark.read_text()
    mark.unlink()
    place.check()
    assert not place.settle()
    assert mark.read_text() == name


async def test_a_running_server_is_told_once_that_its_vault_is_gone(place: VaultPlace) -> None:
    clock, told = ManualClock(), asyncio.Event()

    async def lost() -> None:
        assert not told.is_set()
        told.set()

    watch = VaultWatch(place, lost, clock)
    watch.start()
    await clock.advance(60, "vault")
    watch.check()
    unmount(place)
    await clock.advance(2, "vault")
    await told.wait()
    with pytest.raises(VaultMissing):
        watch.check()
    await watch.close()
