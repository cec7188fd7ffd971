"""Failures of repositories and disks, each reported in a sentence, and visible afterwards."""

import os
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from parachute.base.errors import ParachuteError, Unavailable
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
from tests.support.errors import raises

from .installation import Installation, Meanwhile, looked_at

pytestmark = pytest.mark.long


def concerns(installation: Installation) -> str:
    """Return the problems in the status."""
    return " ".join(State.read(installation.home).concerns())


def test_a_wrong_password_a_missing_one_and_an_unplugged_disk_are_told_apart(installation: Installation) -> None:
    password = installation.access.password_file
    right = password.read_text()
    password.write_text("wrong\n")
    with pytest.raises(WrongPassword) as refused:
        installation.create()
    assert refused.value.key == "wrong_password"
    assert "does not open" in concerns(installation)
    password.unlink()
    with pytest.raises(NotSetUp) as unset:
        installation.create()
    assert unset.value.key == "backup_not_set_up"
    password.write_text(right)
    password.chmod(0o644)
    with raises("not_private"):
        installation.create()
    password.chmod(0o600)
    away = installation.repository_folder.rename(installation.folder / "away")
    with pytest.raises(RepositoryMissing) as missing:
        installation.create()
    assert missing.value.key == "repository_missing"
    assert "plug that in" in (missing.value.hint or "")
    assert not installation.repository_folder.exists()  # on the disk below it would look like a backup
    away.rename(installation.repository_folder)
    installation.create()
    assert concerns(installation) == ""


def test_flipped_bytes_are_found_by_verify_and_drill_and_nothing_is_replaced(installation: Installation) -> None:
    (installation.vault / "big").write_bytes(os.urandom(3_000_000))
    (installation.vault / "note").write_text("still here")
    installation.create()
    installation.flip_bytes()
    proof.verify(installation.places, installation.repository, installation.latest(), Progress(), quick=True)
    with pytest.raises(Damaged):
        proof.verify(installation.places, installation.repository, installation.latest(), Progress())
    with raises("backup_damaged", names="big"):
        proof.drill(installation.places, installation.repository, Progress())
    assert "last verification of a backup" in concerns(installation)
    assert "last drill of a backup" in concerns(installation)
    before = looked_at(installation.vault)
    with raises("backup_damaged", names="big"):
        installation.restore()
    assert looked_at(installation.vault) == before
    assert sorted(path.name for path in installation.folder.iterdir()) == [".parachute", "Parachute", "usb"]
    # What can be read comes back on request, and the command says what could not.
    with raises("backup_damaged", names="big"):
        installation.restore_into(installation.folder / "back")
    assert (installation.folder / "back" / "vault" / "note").read_text() == "still here"


def test_a_pack_that_is_gone_is_found_without_reading_the_files(installation: Installation) -> None:
    (installation.vault / "big").write_bytes(os.urandom(3_000_000))
    installation.create()
    largest = max((installation.repository_folder / "data").rglob("*"), key=lambda path: path.stat().st_size)
    largest.unlink()
    with pytest.raises(Damaged):
        proof.verify(installation.places, installation.repository, installation.latest(), Progress(), quick=True)


def test_a_drill_opens_every_database(installation: Installation) -> None:
    import sqlite3

    path = installation.vault / ".parachute" / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE above (id INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE below (id INTEGER REFERENCES above (id))")
    connection.execute("INSERT INTO below VALUES (7)")
    connection.commit()
    connection.close()
    installation.create()
    with raises("backup_damaged"):
        proof.drill(installation.places, installation.repository, Progress())
    assert list(installation.places.folder.glob("parachute-drill/*")) == []


def test_without_a_vault_or_a_backup_the_answer_says_so(installation: Installation) -> None:
    with raises("no_backup"):
        installation.latest()
    shutil.rmtree(installation.vault)
    with raises("vault_missing"):
        installation.create()
    assert installation.backups() == []


def test_a_vault_whose_disk_is_not_mounted_is_not_backed_up_as_an_empty_one(installation: Installation) -> None:
    (installation.home / "trust.db").touch()
    (installation.vault / "note").write_text("what I wrote")
    made = installation.create()

    def unmount() -> None:
        shutil.rmtree(installation.vault)
        installation.vault.mkdir()

    with raises("vault_empty"):
        installation.create(Meanwhile(at_step="Storing the vault", on_step=unmount))
    with raises("vault_empty"):
        installation.create()
    assert "has no conversations" in concerns(installation)
    assert installation.latest().id == made.id


def test_a_repository_that_goes_while_it_is_read_is_not_called_damaged(installation: Installation) -> None:
    (installation.vault / "note").write_text("what I wrote")
    installation.create()
    latest = installation.latest()
    before = looked_at(installation.vault)
    away = installation.folder / "away"

    def unplug() -> None:
        installation.repository_folder.rename(away)

    for step in ("Restoring vault", "Restoring trust"):
        progress = Meanwhile(at_step=step, on_step=unplug)
        with pytest.raises(RepositoryMissing) as refused:
            restore.restore(installation.places, installation.repository, latest, nullcontext, progress, trust=True)
        assert refused.value.key == "repository_missing"
        assert looked_at(installation.vault) == before
        assert sorted(path.name for path in installation.folder.iterdir()) == [".parachute", "Parachute", "away", "usb"]
        away.rename(installation.repository_folder)
    with pytest.raises(RepositoryMissing) as refused:
        proof.verify(
            installation.places,
            installation.repository,
            latest,
            Meanwhile(at_step="Reading the backup", on_step=unplug),
        )
    assert refused.value.key == "repository_missing"
    away.rename(installation.repository_folder)
    with pytest.raises(ParachuteError):
        installation.create(Meanwhile(at_step="Storing the vault", on_step=unplug))
    away.rename(installation.repository_folder)
    assert installation.latest().id == latest.id
    assert installation.create().is_complete


@pytest.mark.parametrize("is_unplugged", [True, False])
def test_files_that_cannot_be_read_since_the_disk_went_are_no_damage(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, is_unplugged: bool
) -> None:
    (installation.vault / "note").write_text("what I wrote")
    installation.create()
    snapshot = installation.latest().whole
    assert snapshot
    # What restic does when the disk goes after it has begun: it names each file, and ends with 1.
    unplug = f"mv {installation.repository_folder} {installation.folder}/away" if is_unplugged else ""
    programs = installation.folder / "programs"
    programs.mkdir()
    (programs / "restic").write_text(
        f'#!/bin/sh\n{unplug}\nmkdir -p "$4{installation.vault}"\n'
        'echo "ignoring error for /note: load <data/0f>: open data/0f: no such file or directory" >&2\nexit 1\n'
    )
    (programs / "restic").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(installation.repository._restic, "_can_wait", False)
    place = installation.folder / "place"
    if is_unplugged:
        with pytest.raises(RepositoryMissing) as refused:
            installation.repository.restore(snapshot, [str(installation.vault)], place, Progress())
        assert refused.value.key == "repository_missing"
        said = "Fatal: load <data/0f>: open data/0f: no such file or directory"
        assert isinstance(failures.failure(installation.access, "read", 1, said), RepositoryMissing)
    else:
        (named,) = installation.repository.restore(snapshot, [str(installation.vault)], place, Progress())
        assert named.startswith("/note: ")


def test_restic_that_is_not_installed_is_named(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(installation.folder))
    with pytest.raises(Unavailable) as refused:
        installation.create()
    assert refused.value.key == "restic_missing"


@pytest.mark.parametrize(
    ("repository", "said"),
    [
        ("rest:http://127.0.0.1:9/", "cannot be reached|did not answer within 3 seconds"),
        ("sftp:nobody@127.0.0.1:/x", "cannot be (reached|used)|could not|did not answer"),
    ],
)
def test_a_remote_repository_that_does_not_answer_is_told(
    installation: Installation, repository: str, said: str
) -> None:
    found = access.find(installation.places, repository, None, None)
    with raises("backup_failed", names=said) as failed:
        # By itself restic tries for a quarter of an hour.
        Repository(Restic(installation.places, found, patience=3)).check_there()
    assert not isinstance(failed.value, RepositoryMissing)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("subprocess ssh: Host key verification failed.", "ssh-keygen -R"),
        ("subprocess ssh: me@nas: Permission denied (publickey).", "authorized_keys"),
        ("subprocess ssh: ssh: connect to host nas port 22: Connection refused", "Check the network"),
    ],
)
def test_what_ssh_refuses_is_not_said_to_be_the_network(installation: Installation, said: str, hint: str) -> None:
    ended = f"{said}\nFatal: unable to open repository at sftp:me@nas:/x: unable to start the sftp session, error: EOF"
    failed = failures.failure(installation.access, "read", 1, ended)
    assert isinstance(failed, BackupFailed)
    assert hint in str(failed.hint)


def test_a_full_disk_is_told_and_the_backup_before_stays(installation: Installation) -> None:
    installation.create()
    usb = installation.folder / "small"
    usb.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", usb], capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    try:
        small = usb / "backup"
        shutil.copytree(installation.repository_folder, small)
        found = access.find(installation.places, str(small), None, None)
        installation.repository = Repository(Restic(installation.places, found))
        (installation.vault / "big").write_bytes(os.urandom(9_000_000))
        with raises("backup_failed", names="no room"):
            installation.create()
        assert len([backup for backup in installation.backups() if backup.is_finished]) == 1
        with raises("disk_full"):
            installation.restore_into(usb / "back")
    finally:
        subprocess.run(["umount", usb], check=True)


def test_a_repository_is_made_once_and_never_inside_of_what_it_holds(installation: Installation) -> None:
    with raises("repository_exists"):
        create.make(installation.repository)
    for inside in (installation.vault / "backup", installation.home / "x"):
        with raises("same_disk"):
            access.find(installation.places, str(inside), None, None)
    nowhere = access.find(installation.places, str(installation.folder / "not" / "plugged" / "in"), None, None)
    with raises("no_folder"):
        create.make(Repository(Restic(installation.places, nowhere)))


def test_an_environment_file_names_credentials_and_nothing_else(installation: Installation, tmp_path: Path) -> None:
    path = tmp_path / "environment"
    path.write_text('# of the bucket\n\nAWS_ACCESS_KEY_ID=abc\nAWS_SECRET_ACCESS_KEY = "d=e f"\n')
    path.chmod(0o644)
    with raises("not_private"):
        access.find(installation.places, "s3:host/bucket", None, path)
    path.chmod(0o600)
    found = access.find(installation.places, "s3:host/bucket", None, path)
    assert found.variables == {"AWS_ACCESS_KEY_ID": "abc", "AWS_SECRET_ACCESS_KEY": "d=e f"}
    assert "d=e f" not in repr(found)
    for line in ("RESTIC_PASSWORD_COMMAND=sh", "LD_PRELOAD=/x", "secret without a name"):
        path.write_text(line)
        with raises("invalid_line", names="line 1") as refused:
            access.find(installation.places, "s3:host/bucket", None, path)
        assert line.partition("=")[2] not in refused.value.message or "=" not in line


def test_a_password_in_an_address_is_not_shown(installation: Installation) -> None:
    found = access.find(installation.places, "rest:https://me:hunter2@host/x", None, None)
    assert found.shown == "rest:https://me:***@host/x"
