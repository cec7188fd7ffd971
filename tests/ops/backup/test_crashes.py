"""kill -9 at the worst moments."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from parachute.backup import drill, restore
from parachute.backup.models import Locked, Silent
from parachute.errors import Conflict

from .household import Household

_SECONDS = 60


def command_line(household: Household, *arguments: str) -> "subprocess.Popen[str]":
    """`parachute backup` as a process."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(household.folder), "PARACHUTE_HOME": str(household.home)}
    return subprocess.Popen(
        [sys.executable, "-m", "parachute.cli", "backup", *arguments],
        env={**environment, "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(condition: Any, what: str) -> Any:
    """The first true answer; what happens in other processes announces itself to nobody."""
    deadline = time.monotonic() + _SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.01)
    return found


def restics(process: "subprocess.Popen[str]", word: str) -> list[psutil.Process]:
    """The restic processes below a command that have a word on their command line."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if child.name() == "restic" and word in child.cmdline():
                    found.append(child)
    return found


def test_a_backup_that_is_killed_leaves_no_process_and_the_next_one_is_whole(household: Household) -> None:
    (household.vault / "note").write_text("what I wrote")
    household.create()
    (household.vault / "big").write_bytes(os.urandom(30_000_000))
    process = command_line(household, "create")
    (working,) = wait_for(lambda: restics(process, "backup"), "restic is at work")
    # Stopped in the middle, with its lock in the repository.
    wait_for(lambda: list((household.repository_folder / "locks").glob("?" * 64)), "the repository is locked")
    working.suspend()
    family = psutil.Process(process.pid).children(recursive=True)
    assert "Another backup command is at work" in (command_line(household, "create").communicate(timeout=60)[0])
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(family, timeout=_SECONDS)
    assert alive == []
    assert list((household.repository_folder / "locks").iterdir())

    assert [backup.is_finished for backup in household.backups()] == [True]
    made = household.create()
    assert made.is_complete
    assert list((household.repository_folder / "locks").iterdir()) == []
    assert list(household.places.staging.iterdir()) == []
    household.restore_into(household.folder / "back")
    assert (household.folder / "back" / "vault" / "big").read_bytes() == (household.vault / "big").read_bytes()


def test_what_a_crash_left_unfinished_is_not_restored_and_goes_with_the_next_backup(household: Household) -> None:
    first = household.create()
    process = command_line(household, "create")
    # The vault's files are stored, what closes them is not.
    wait_for(lambda: len(list((household.repository_folder / "snapshots").iterdir())) > 4, "a snapshot is there")
    process.kill()
    process.communicate()
    found = household.backups()
    assert [backup.is_finished for backup in found] == [True, False]
    assert household.latest().id == first.id
    made = household.create()
    assert made.removed == 1
    assert {backup.id for backup in household.backups()} == {first.id, made.id}


def test_another_program_that_holds_the_repository_is_named(household: Household) -> None:
    household.create()
    with subprocess.Popen(["restic", "check"], env=household.environment(), stdout=subprocess.DEVNULL) as other:
        try:
            # Under its last name, which has 64 digits.
            wait_for(lambda: list((household.repository_folder / "locks").glob("?" * 64)), "restic has its lock")
            other.send_signal(signal.SIGSTOP)
            with pytest.raises(Locked, match=f"is in use, by PID {other.pid} on "):
                household.create()
        finally:
            other.kill()
    # A computer of the same name may be at work: no process of it is seen here.
    with pytest.raises(Locked):
        household.create()
    household.restic("unlock")
    assert household.create().is_complete


def leave_lock(household: Household) -> None:
    """Kill a verification while it holds the repository."""
    process = command_line(household, "verify", "--quick")
    wait_for(lambda: restics(process, "check") and locks(household), "restic has its lock")
    process.kill()
    process.communicate()


def locks(household: Household) -> list[Path]:
    """The locks in the repository."""
    return list((household.repository_folder / "locks").glob("?" * 64))


def test_the_lock_of_a_killed_command_keeps_nobody_from_restoring(household: Household) -> None:
    (household.vault / "note").write_text("what I wrote")
    household.create()
    leave_lock(household)
    household.restore_into(household.folder / "back")
    assert locks(household) == []
    leave_lock(household)
    household.restore()
    leave_lock(household)
    drill.drill(household.places, household.repository, Silent())
    household.repository.unlock_own()
    assert list(household.places.processes.iterdir()) == []


def test_the_lock_of_a_computer_with_our_name_is_left_alone(household: Household) -> None:
    household.create()
    # There it works; here no process has its number.
    with subprocess.Popen(["restic", "check"], env=household.environment(), stdout=subprocess.DEVNULL) as other:
        (theirs,) = wait_for(lambda: locks(household), "restic has its lock")
        other.kill()
    household.repository.unlock_own()
    assert locks(household) == [theirs]
    away = theirs.rename(household.folder / "theirs")
    leave_lock(household)
    (ours,) = locks(household)
    away.rename(theirs)
    household.repository.unlock_own()
    assert set(locks(household)) == {ours, theirs}
    theirs.unlink()
    household.repository.unlock_own()
    assert locks(household) == []


_RESTORING = """
import os, signal, sys
from tests.backup.household import Household
from parachute.backup import restore, swap
system, count, trust = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "trust"
household = Household.__new__(Household)
household.open(sys.argv[4])
perform, passed = swap.perform, 0
def killed(event, arguments):
    global passed
    # What renames and unlinks between the first and the last step of the swap.
    if event in ("os.rename", "os.remove", "ctypes.dlsym") and armed:
        passed += 1
        if passed == count:
            os.kill(os.getpid(), signal.SIGKILL)
armed = False
def arm(*arguments):
    global armed
    armed = True
    try:
        return perform(*arguments)
    finally:
        armed = False
swap.perform = arm
sys.platform = system
sys.addaudithook(killed)
household.restore(trust=trust)
print("done", passed)
"""


def restore_and_die(household: Household, system: str, count: int, trust: str) -> bool:
    """Restore in a process that is killed before its next change of a name; whether it came to its end instead."""
    command = [sys.executable, "-c", _RESTORING, system, str(count), trust, str(household.folder)]
    root = Path(__file__).parent.parent.parent
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode == 0


@pytest.mark.parametrize(("system", "most"), [("linux", 9), ("darwin", 9)])
def test_a_restore_that_is_killed_anywhere_leaves_the_old_vault_or_the_new_one(
    household: Household, system: str, most: int
) -> None:
    (household.vault / "note").write_text("old")
    household.create()
    sentences = []
    for count in range(1, most + 1):
        (household.vault / "note").write_text("present")
        is_done = restore_and_die(household, system, count, "vault")
        if system == "linux":
            # One step: at no moment there is no vault, for which the computer would make an empty one.
            assert (household.vault / "note").exists()
        if is_done:
            assert count > 2
            break
        sentences.append(restore.recover(household.places))
        note = (household.vault / "note").read_text()
        assert (note == "old") == ("complete" in (sentences[-1] or ""))
        kept = [path / "note" for path in household.folder.glob("Parachute.before-restore-*")]
        assert all(path.read_text() == "present" for path in kept)
        assert (note == "present") != bool(kept)
        for path in kept:
            path.unlink()
            path.parent.joinpath(".parachute").rmdir()
            path.parent.rmdir()
        assert not list(household.folder.glob(".Parachute.rest*"))
        assert not list(household.folder.glob("*.json"))
    else:
        pytest.fail("it never came to its end")
    assert any("complete now" in (sentence or "") for sentence in sentences)
    assert any("dropped" in (sentence or "") for sentence in sentences)


def test_a_restore_of_trust_that_is_killed_is_completed_from_outside_of_it(household: Household) -> None:
    (household.home / "keys.yaml").write_text("old")
    household.create()
    (household.home / "keys.yaml").write_text("present")
    # Past the swap of the vault, and past the exchange of the two folders of trust.
    for count in range(3, 12):
        if restore_and_die(household, "linux", count, "trust"):
            pytest.fail("it was not killed in time")
        if (household.home / "keys.yaml").read_text() == "old":
            break
        restore.recover(household.places)
        (household.home / "keys.yaml").write_text("present")
    else:
        pytest.fail("trust was never swapped")
    said = restore.recover(household.places)
    assert "complete now" in (said or "")
    (kept,) = household.folder.glob(".parachute.before-restore-*")
    assert (kept / "keys.yaml").read_text() == "present"
    assert household.create().is_complete  # the password went along


def test_a_folder_that_was_made_in_the_gap_is_not_thrown_away(household: Household) -> None:
    (household.vault / "note").write_text("old")
    household.create()
    count = 1
    while household.vault.exists():
        assert not restore_and_die(household, "darwin", count, "vault")
        count += 1
        if household.vault.exists():
            restore.recover(household.places)
    household.vault.mkdir()
    with pytest.raises(Conflict, match="something has made a new"):
        restore.recover(household.places)
    household.vault.rmdir()
    assert "complete now" in (restore.recover(household.places) or "")
    assert (household.vault / "note").read_text() == "old"


def test_a_drill_that_is_killed_leaves_no_process_and_the_next_one_removes_what_is_left(household: Household) -> None:
    (household.vault / "big").write_bytes(os.urandom(20_000_000))
    household.create()
    process = command_line(household, "drill")
    wait_for(lambda: restics(process, "restore"), "restic restores")
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(family, timeout=_SECONDS)
    assert alive == []
    drill.drill(household.places, household.repository, Silent())
    assert not (household.places.folder / "parachute-drill").exists()
