"""What goes wrong with repositories and disks, each said in a sentence, and visible afterwards."""

import os
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.ops.backup import access, create, failures, proof, restore
from parachute.ops.backup.models import (
    BackupFailed,
    Damaged,
    NotSetUp,
    Progress,
    RepositoryMissing,
    WrongPassword,
)
from parachute.ops.backup.repository import Repository
from parachute.ops.backup.restic import Restic
from parachute.ops.backup.state import State

from .household import Household, Meanwhile, looked_at

pytestmark = pytest.mark.long


def concerns(household: Household) -> str:
    """What status says somebody should look at."""
    return " ".join(State.read(household.home).concerns())


def test_a_wrong_password_a_missing_one_and_an_unplugged_disk_are_told_apart(household: Household) -> None:
    password = household.access.password_file
    right = password.read_text()
    password.write_text("wrong\n")
    with pytest.raises(WrongPassword) as refused:
        household.create()
    assert refused.value.key == "wrong_password"
    assert "does not open" in concerns(household)
    password.unlink()
    with pytest.raises(NotSetUp) as refused:
        household.create()
    assert refused.value.key == "backup_not_set_up"
    password.write_text(right)
    password.chmod(0o644)
    with pytest.raises(InvalidInput, match="others can read"):
        household.create()
    password.chmod(0o600)
    away = household.repository_folder.rename(household.folder / "away")
    with pytest.raises(RepositoryMissing) as missing:
        household.create()
    assert missing.value.key == "repository_missing"
    assert "plug that in" in (missing.value.hint or "")
    assert not household.repository_folder.exists()  # on the disk below it would look like a backup
    away.rename(household.repository_folder)
    household.create()
    assert concerns(household) == ""


def test_flipped_bytes_are_found_by_verify_and_drill_and_nothing_is_replaced(household: Household) -> None:
    (household.vault / "big").write_bytes(os.urandom(3_000_000))
    (household.vault / "note").write_text("still here")
    household.create()
    household.flip_bytes()
    proof.verify(household.places, household.repository, household.latest(), Progress(), quick=True)
    with pytest.raises(Damaged):
        proof.verify(household.places, household.repository, household.latest(), Progress())
    with pytest.raises(Damaged, match="big"):
        proof.drill(household.places, household.repository, Progress())
    assert "last verification of a backup" in concerns(household)
    assert "last drill of a backup" in concerns(household)
    before = looked_at(household.vault)
    with pytest.raises(Damaged, match="big"):
        household.restore()
    assert looked_at(household.vault) == before
    assert sorted(path.name for path in household.folder.iterdir()) == [".parachute", "Parachute", "usb"]
    # What can be read comes back on request, and the command says what could not.
    with pytest.raises(Damaged, match="big"):
        household.restore_into(household.folder / "back")
    assert (household.folder / "back" / "vault" / "note").read_text() == "still here"


def test_a_pack_that_is_gone_is_found_without_reading_the_files(household: Household) -> None:
    (household.vault / "big").write_bytes(os.urandom(3_000_000))
    household.create()
    largest = max((household.repository_folder / "data").rglob("*"), key=lambda path: path.stat().st_size)
    largest.unlink()
    with pytest.raises(Damaged):
        proof.verify(household.places, household.repository, household.latest(), Progress(), quick=True)


def test_a_drill_opens_every_database(household: Household) -> None:
    import sqlite3

    path = household.vault / ".parachute" / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE above (id INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE below (id INTEGER REFERENCES above (id))")
    connection.execute("INSERT INTO below VALUES (7)")
    connection.commit()
    connection.close()
    household.create()
    with pytest.raises(Damaged, match="refers to rows that are not there"):
        proof.drill(household.places, household.repository, Progress())
    assert list(household.places.folder.glob("parachute-drill/*")) == []


def test_without_a_vault_or_a_backup_the_answer_says_so(household: Household) -> None:
    with pytest.raises(NotFound, match="no backup in the repository yet"):
        household.latest()
    shutil.rmtree(household.vault)
    with pytest.raises(NotFound, match="There is no vault"):
        household.create()
    assert household.backups() == []


def test_a_vault_whose_disk_is_not_mounted_is_not_backed_up_as_an_empty_one(household: Household) -> None:
    (household.home / "trust.db").touch()
    (household.vault / "note").write_text("what I wrote")
    made = household.create()

    def unmount() -> None:
        shutil.rmtree(household.vault)
        household.vault.mkdir()

    with pytest.raises(NotFound, match="has no conversations"):
        household.create(Meanwhile(at_step="Storing the vault", on_step=unmount))
    with pytest.raises(NotFound, match="has no conversations"):
        household.create()
    assert "has no conversations" in concerns(household)
    assert household.latest().id == made.id


def test_a_repository_that_goes_while_it_is_read_is_not_called_damaged(household: Household) -> None:
    (household.vault / "note").write_text("what I wrote")
    household.create()
    latest = household.latest()
    before = looked_at(household.vault)
    away = household.folder / "away"

    def unplug() -> None:
        household.repository_folder.rename(away)

    for step in ("Restoring vault", "Restoring trust"):
        progress = Meanwhile(at_step=step, on_step=unplug)
        with pytest.raises(RepositoryMissing) as refused:
            restore.restore(household.places, household.repository, latest, nullcontext, progress, trust=True)
        assert refused.value.key == "repository_missing"
        assert looked_at(household.vault) == before
        assert sorted(path.name for path in household.folder.iterdir()) == [".parachute", "Parachute", "away", "usb"]
        away.rename(household.repository_folder)
    with pytest.raises(RepositoryMissing) as refused:
        proof.verify(
            household.places,
            household.repository,
            latest,
            Meanwhile(at_step="Reading the backup", on_step=unplug),
        )
    assert refused.value.key == "repository_missing"
    away.rename(household.repository_folder)
    with pytest.raises(ParachuteError):
        household.create(Meanwhile(at_step="Storing the vault", on_step=unplug))
    away.rename(household.repository_folder)
    assert household.latest().id == latest.id
    assert household.create().is_complete


@pytest.mark.parametrize("is_unplugged", [True, False])
def test_files_that_cannot_be_read_since_the_disk_went_are_no_damage(
    household: Household, monkeypatch: pytest.MonkeyPatch, is_unplugged: bool
) -> None:
    (household.vault / "note").write_text("what I wrote")
    household.create()
    snapshot = household.latest().whole
    assert snapshot
    # What restic does when the disk goes after it has begun: it names each file, and ends with 1.
    unplug = f"mv {household.repository_folder} {household.folder}/away" if is_unplugged else ""
    programs = household.folder / "programs"
    programs.mkdir()
    (programs / "restic").write_text(
        f'#!/bin/sh\n{unplug}\nmkdir -p "$4{household.vault}"\n'
        'echo "ignoring error for /note: load <data/0f>: open data/0f: no such file or directory" >&2\nexit 1\n'
    )
    (programs / "restic").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(household.repository._restic, "_can_wait", False)
    place = household.folder / "place"
    if is_unplugged:
        with pytest.raises(RepositoryMissing) as refused:
            household.repository.restore(snapshot, [str(household.vault)], place)
        assert refused.value.key == "repository_missing"
        said = "Fatal: load <data/0f>: open data/0f: no such file or directory"
        assert isinstance(failures.failure(household.access, "read", 1, said), RepositoryMissing)
    else:
        (named,) = household.repository.restore(snapshot, [str(household.vault)], place)
        assert named.startswith("/note: ")


def test_restic_that_is_not_installed_is_named(household: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(household.folder))
    with pytest.raises(Unavailable) as refused:
        household.create()
    assert refused.value.key == "restic_missing"


@pytest.mark.parametrize(
    ("repository", "said"),
    [
        ("rest:http://127.0.0.1:9/", "cannot be reached|did not answer within 3 seconds"),
        ("sftp:nobody@127.0.0.1:/x", "cannot be (reached|used)|could not|did not answer"),
    ],
)
def test_a_remote_repository_that_does_not_answer_is_told(household: Household, repository: str, said: str) -> None:
    found = access.find(household.places, repository, None, None)
    with pytest.raises(ParachuteError, match=said) as failed:
        # By itself restic tries for a quarter of an hour.
        Repository(Restic(household.places, found, patience=3)).check_there()
    assert not isinstance(failed.value, RepositoryMissing)


def test_a_full_disk_is_told_and_the_backup_before_stays(household: Household) -> None:
    household.create()
    usb = household.folder / "small"
    usb.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", usb], capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    try:
        small = usb / "backup"
        shutil.copytree(household.repository_folder, small)
        found = access.find(household.places, str(small), None, None)
        household.repository = Repository(Restic(household.places, found))
        (household.vault / "big").write_bytes(os.urandom(9_000_000))
        with pytest.raises(BackupFailed, match="no room"):
            household.create()
        assert len([backup for backup in household.backups() if backup.is_finished]) == 1
        with pytest.raises(BackupFailed, match=r"no room|cannot be restored"):
            household.restore_into(usb / "back")
    finally:
        subprocess.run(["umount", usb], check=True)


def test_a_repository_is_made_once_and_never_inside_of_what_it_holds(household: Household) -> None:
    with pytest.raises(Conflict, match="already"):
        create.make(household.repository)
    for inside in (household.vault / "backup", household.home / "x"):
        with pytest.raises(InvalidInput, match="has to survive"):
            access.find(household.places, str(inside), None, None)
    nowhere = access.find(household.places, str(household.folder / "not" / "plugged" / "in"), None, None)
    with pytest.raises(BackupFailed, match="There is no folder"):
        create.make(Repository(Restic(household.places, nowhere)))


def test_an_environment_file_names_credentials_and_nothing_else(household: Household, tmp_path: Path) -> None:
    path = tmp_path / "environment"
    path.write_text('# of the bucket\n\nAWS_ACCESS_KEY_ID=abc\nAWS_SECRET_ACCESS_KEY = "d=e f"\n')
    path.chmod(0o644)
    with pytest.raises(InvalidInput, match="others can read"):
        access.find(household.places, "s3:host/bucket", None, path)
    path.chmod(0o600)
    found = access.find(household.places, "s3:host/bucket", None, path)
    assert found.variables == {"AWS_ACCESS_KEY_ID": "abc", "AWS_SECRET_ACCESS_KEY": "d=e f"}
    assert "d=e f" not in repr(found)
    for line in ("RESTIC_PASSWORD_COMMAND=sh", "LD_PRELOAD=/x", "secret without a name"):
        path.write_text(line)
        with pytest.raises(InvalidInput, match="line 1: expected NAME=value") as refused:
            access.find(household.places, "s3:host/bucket", None, path)
        assert line.partition("=")[2] not in refused.value.message or "=" not in line


def test_a_password_in_an_address_is_not_shown(household: Household) -> None:
    found = access.find(household.places, "rest:https://me:hunter2@host/x", None, None)
    assert found.shown == "rest:https://me:***@host/x"
