"""kill -9 at the worst moments."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from parachute.base import swap
from parachute.ops.backup import proof, restore
from parachute.ops.backup.models import Locked, Progress
from tests.support.computer import free_port
from tests.support.errors import raises
from tests.support.waiting import still_running, wait_until

from .installation import Installation

pytestmark = pytest.mark.long

_SECONDS = 60


def command_line(installation: Installation, *arguments: str, is_slow: bool = False) -> "subprocess.Popen[str]":
    """`parachute backup` as a process, with a restic that takes its time if it has to be met at work."""
    path = installation.slow_programs() if is_slow else os.environ["PATH"]
    environment = {"PATH": path, "HOME": str(installation.folder), "PARACHUTE_HOME": str(installation.home)}
    return subprocess.Popen(
        [sys.executable, "-m", "parachute.cli", "backup", *arguments],
        env={**environment, "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def restics(process: "subprocess.Popen[str]", word: str) -> list[psutil.Process]:
    """The restic processes below a command that have a word on their command line."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if child.name() == "restic" and word in child.cmdline():
                    found.append(child)
    return found


def test_a_backup_that_is_killed_leaves_no_process_and_the_next_one_is_whole(installation: Installation) -> None:
    (installation.vault / "note").write_text("what I wrote")
    installation.create()
    (installation.vault / "big").write_bytes(os.urandom(30_000_000))
    process = command_line(installation, "create", is_slow=True)
    (working,) = wait_until(lambda: restics(process, "backup"), "restic is at work")
    # Stopped in the middle, with its lock in the repository.
    wait_until(installation.locks, "the repository is locked")
    working.suspend()
    family = psutil.Process(process.pid).children(recursive=True)
    assert "Another backup command is running" in (command_line(installation, "create").communicate()[0])
    process.kill()
    process.communicate()
    assert not still_running(family)
    assert list((installation.repository_folder / "locks").iterdir())

    assert [backup.is_finished for backup in installation.backups()] == [True]
    made = installation.create()
    assert made.is_complete
    assert list((installation.repository_folder / "locks").iterdir()) == []
    assert not installation.places.staging.exists()
    installation.restore_into(installation.folder / "back")
    assert (installation.folder / "back" / "vault" / "big").read_bytes() == (installation.vault / "big").read_bytes()


def test_another_program_that_holds_the_repository_is_named(installation: Installation) -> None:
    installation.create()
    with checking(installation) as other, raises("backup_locked", names=f"PID {other.pid} on "):
        installation.create()
    # A computer of the same name may be at work: no process of it is seen here.
    with pytest.raises(Locked):
        installation.create()
    installation.restic("unlock")
    assert installation.create().is_complete


@contextlib.contextmanager
def checking(installation: Installation) -> Iterator["subprocess.Popen[bytes]"]:
    """Another program that works on the repository, killed in the midst of it."""
    with (
        installation.held_up(),
        subprocess.Popen(["restic", "check"], env=installation.environment(), stdout=subprocess.DEVNULL) as other,
    ):
        try:
            wait_until(installation.locks, "restic has its lock")
            yield other
        finally:
            other.kill()


def leave_lock(installation: Installation) -> None:
    """Kill a verification while it holds the repository."""
    with installation.held_up():
        process = command_line(installation, "verify", "--quick")
        wait_until(installation.locks, "restic has its lock")
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
        assert not still_running(family)


def test_the_lock_of_a_killed_command_keeps_nobody_from_restoring(installation: Installation) -> None:
    (installation.vault / "note").write_text("what I wrote")
    installation.create()
    leave_lock(installation)
    installation.restore_into(installation.folder / "back")
    assert installation.locks() == []
    leave_lock(installation)
    installation.restore()
    leave_lock(installation)
    proof.drill(installation.places, installation.repository, Progress())
    assert installation.locks() == []


def test_the_lock_of_a_computer_with_our_name_is_left_alone(installation: Installation) -> None:
    installation.create()
    # There it works; here no process has its number.
    with checking(installation):
        (theirs,) = installation.locks()
    with pytest.raises(Locked) as refused:
        installation.create()
    assert refused.value.key == "backup_locked"
    assert "`restic unlock` removes the lock now" in str(refused.value.hint)
    assert installation.locks() == [theirs]


_RESTORING = """
import os, signal, sys
from tests.ops.backup.installation import Installation
from parachute.base import swap
GAP, count, trust = 0, int(sys.argv[1]), sys.argv[2] == "trust"
if sys.argv[4] == "two steps":
    swap.exchanged = lambda one, other: False  # as on a file system that cannot
installation = Installation.__new__(Installation)
installation.open(sys.argv[3])
current = installation.home if trust else installation.vault
perform, passed = swap.perform, 0
def killed(event, arguments):
    global passed
    # What renames and unlinks between the first and the last step of the swap.
    if event in ("os.rename", "os.remove") and armed:
        passed += 1
        if passed == count or (count == GAP and not current.exists()):
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
sys.addaudithook(killed)
installation.restore(trust=trust)
print("done", passed)
"""


def restore_and_die(installation: Installation, count: int, trust: str = "vault", steps: str = "two steps") -> bool:
    """Restore in a process that is killed before its change of a name with this number; whether it came to its end instead.

    0 is the change before which the folder of before has its new name, and the restored one not yet its own.
    """
    command = [sys.executable, "-c", _RESTORING, str(count), trust, str(installation.folder), steps]
    root = Path(__file__).parent.parent.parent
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode == 0


@pytest.mark.parametrize("steps", ["one step", "two steps"])
def test_a_restore_that_is_killed_anywhere_leaves_the_old_vault_or_the_new_one(
    installation: Installation, steps: str
) -> None:
    (installation.vault / "note").write_text("old")
    installation.create()
    sentences = []
    for count in range(1, 9):
        (installation.vault / "note").write_text("present")
        if restore_and_die(installation, count, steps=steps):
            assert count > 2
            break
        assert steps == "two steps" or installation.vault.exists()
        sentences.append(swap.recover(installation.home))
        note = (installation.vault / "note").read_text()
        # Before it is written down what is to be done nothing has changed.
        assert (note == "old") == (sentences[-1] is not None)
        kept = [path / "note" for path in installation.folder.glob("Parachute.before-restore-*")]
        assert all(path.read_text() == "present" for path in kept)
        assert (note == "present") != bool(kept)
        for path in kept:
            shutil.rmtree(path.parent)
        assert not list(installation.folder.glob("*.json"))
        restore.recover(installation.places)
        assert not list(installation.folder.glob(".Parachute.rest*"))
    else:
        pytest.fail("it never came to its end")
    assert any("complete now" in (sentence or "") for sentence in sentences)
    assert any("is restored now" in (sentence or "") for sentence in sentences)


def die_in_the_gap(installation: Installation, trust: str = "vault") -> None:
    """Restore, and be killed between the two steps of the swap."""
    assert not restore_and_die(installation, 0, trust)
    assert not (installation.home if trust == "trust" else installation.vault).exists()


def test_the_next_start_completes_a_restore_that_was_killed_between_its_steps_and_says_so(
    installation: Installation,
) -> None:
    (installation.vault / "note").write_text("old")
    installation.create()
    (installation.vault / "note").write_text("present")
    die_in_the_gap(installation)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(installation.folder),
        "PARACHUTE_HOME": str(installation.home),
    }
    port = str(free_port())

    def parachute(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "parachute.cli", *arguments]
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    started = parachute("start", "--port", port)
    try:
        assert started.returncode == 0, started.stderr
        assert "is complete now. What was there before is" in " ".join(started.stderr.split())
        assert (installation.vault / "note").read_text() == "old"
    finally:
        parachute("stop")
    (kept,) = installation.folder.glob("Parachute.before-restore-*")
    assert (kept / "note").read_text() == "present"


def test_the_supervisor_completes_it_as_well_before_it_makes_anything(installation: Installation) -> None:
    (installation.home / "keys.yaml").write_text("old")
    installation.create()
    (installation.home / "keys.yaml").write_text("present")
    die_in_the_gap(installation, "trust")
    # It ends at once: an address that nobody has. By then the state directory is the restored one.
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(installation.folder),
        "PARACHUTE_HOME": str(installation.home),
    }
    command = [sys.executable, "-m", "parachute.supervisor", "--host", "203.0.113.1", "--port", "9"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert "complete now" in ended.stderr
    assert (installation.home / "keys.yaml").read_text() == "old"
    (kept,) = installation.folder.glob(".parachute.before-restore-*")
    assert (kept / "keys.yaml").read_text() == "present"
    assert installation.create().is_complete  # the password went along


def test_a_folder_that_was_made_in_the_gap_is_not_thrown_away(installation: Installation) -> None:
    (installation.vault / "note").write_text("old")
    installation.create()
    die_in_the_gap(installation)
    installation.vault.mkdir()
    (installation.vault / "mine").write_text("made in the gap")
    with raises("restore_cut_off"):
        restore.recover(installation.places)
    (installation.vault / "mine").unlink()
    # An empty one is in nobody's way.
    assert "complete now" in (restore.recover(installation.places) or "")
    assert (installation.vault / "note").read_text() == "old"


def test_a_terminal_that_is_closed_in_a_drill_leaves_no_copy(installation: Installation) -> None:
    (installation.vault / "big").write_bytes(os.urandom(20_000_000))
    for number in range(2_000):
        (installation.vault / f"note-{number}").write_text(f"what I wrote {number}")
    installation.create()
    process = command_line(installation, "drill", is_slow=True)
    wait_until(lambda: restics(process, "restore"), "restic restores")
    # By the kernel, and by the shell.
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
    process.communicate()
    assert not installation.places.drilled.exists()


def test_a_drill_that_is_killed_leaves_no_process_and_the_next_one_removes_what_is_left(
    installation: Installation,
) -> None:
    (installation.vault / "big").write_bytes(os.urandom(20_000_000))
    installation.create()
    process = command_line(installation, "drill", is_slow=True)
    wait_until(lambda: restics(process, "restore"), "restic restores")
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    assert not still_running(family)
    proof.drill(installation.places, installation.repository, Progress())
    assert not (installation.places.folder / "parachute-drill").exists()
