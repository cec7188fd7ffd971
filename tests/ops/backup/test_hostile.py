"""Vaults and repositories that are made so that a restore fails, or changes what it should not."""

# Path holds no names that are bytes.

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from parachute.base import swap
from parachute.base.files import remove_tree
from parachute.base.swap import Plan, Swap
from parachute.ops.backup import access, backups, proof, restore
from parachute.ops.backup.backups import Backup
from parachute.ops.backup.models import Progress
from parachute.ops.backup.rebuild import rebuilt
from tests.support.errors import raises

from .installation import Installation, looked_at

pytestmark = pytest.mark.long

_BEYOND_RESTIC = 15_000_000_000 * 1_000_000_000
"""In the year 2445, in ns: more than 64 bits hold."""


@contextmanager
def nested(root: Path, name: str, depth: int) -> Iterator[int]:
    """The innermost of folders in each other, whose path may be too long for the system to take."""
    descriptor = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=descriptor)
        below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write(folder: int, name: str) -> None:
    """A file in an open folder."""
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=folder))


def test_a_path_too_long_to_be_restored_is_named_and_keeps_nothing_else_from_it(installation: Installation) -> None:
    (installation.vault / "note").write_text("mine")
    with nested(installation.vault, "d" * 200, 30) as innermost:
        write(innermost, "deep")
    made = installation.create()
    assert not made.is_complete
    assert [path[:3] for path in made.reports["vault"].unreadable] == ["ddd"]
    installation.restore()
    assert (installation.vault / "note").read_text() == "mine"


def test_folders_nested_too_deep_are_named_and_what_restic_brings_of_them_is_removed(
    installation: Installation,
) -> None:
    with nested(installation.vault, "d", 1010) as innermost:
        write(innermost, "deep")
    try:
        assert not installation.create().is_complete
        proof.drill(installation.places, installation.repository, Progress())
        assert not (installation.places.folder / "parachute-drill").exists()
    finally:
        remove_tree(installation.vault / "d")


def test_a_time_that_restic_cannot_hold_keeps_nobody_from_restoring(installation: Installation) -> None:
    note = installation.vault / "note"
    note.write_text("of the future")
    os.utime(note, ns=(_BEYOND_RESTIC, _BEYOND_RESTIC))
    assert installation.create().is_complete
    proof.drill(installation.places, installation.repository, Progress())
    installation.restore()
    assert note.read_text() == "of the future"


def test_a_database_in_a_read_only_folder_comes_back(installation: Installation) -> None:
    folder = installation.vault / ".parachute" / "closed"
    folder.mkdir()
    sqlite3.connect(folder / "x.db").execute("CREATE TABLE x (y)").connection.close()
    folder.chmod(0o555)
    installation.create()
    installation.restore()
    assert (folder / "x.db").exists()
    assert folder.stat().st_mode & 0o777 == 0o555


def test_a_vault_that_cannot_be_renamed_stays_as_it_is(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = installation.vault.rename(installation.folder / ("v" * 225))
    installation.places = replace(installation.places, vault=vault)
    (vault / "note").write_text("then")
    installation.create()
    (vault / "note").write_text("now")
    with raises("path_too_long"):
        installation.restore()
    # Without that look ahead the system refuses it.
    monkeypatch.setattr(swap, "_LONGEST", 255)
    with raises("backup_failed", names="cannot be replaced") as refused:
        installation.restore()
    assert refused.value.hint == "Nothing was changed."
    assert (vault / "note").read_text() == "now"
    assert restore.recover(installation.places) is None


def test_a_folder_that_may_be_the_restored_vault_is_not_removed(installation: Installation) -> None:
    installation.create()
    other = installation.folder / ".Parachute.restoring"
    other.mkdir()
    (other / "note").write_text("restored")
    # As on a file system that numbers its files anew with each mount.
    cut_off = replace(Swap.planned(installation.vault, other, datetime.now(UTC)), inode=0)
    (installation.folder / ".parachute.restore.json").write_text(json.dumps(to_builtins(Plan((cut_off,)))))
    with raises("restored_unknown"):
        installation.restore()
    assert (other / "note").read_text() == "restored"


def test_a_snapshot_whose_folder_lies_elsewhere_changes_nothing_there(installation: Installation) -> None:
    outside = installation.folder / "outside"
    outside.mkdir()
    (installation.vault / "link").symlink_to(outside)
    installation.create()
    snapshot = installation.latest().whole
    assert snapshot
    for number, path in enumerate((f"{installation.vault}/link", f"/{'../' * 20}{str(outside).lstrip('/')}")):
        hostile = replace(snapshot, paths=(path, path))
        with (
            raises("backup_failed", names=r"leads out|does not hold"),
            rebuilt(
                installation.repository, Backup("0badf00d", [hostile]), "vault", installation.folder / f"place{number}"
            ),
        ):
            pass
    assert list(outside.iterdir()) == []


def test_a_link_among_the_databases_is_not_put_in_place(installation: Installation) -> None:
    installation.create()
    link = installation.places.staging / "vault" / ".parachute" / "sessions.db"
    link.parent.mkdir(parents=True)
    link.symlink_to(installation.access.password_file)
    folders = {"vault": str(installation.vault), "trust": str(installation.home)}
    installation.repository.store(
        [installation.vault, installation.home],
        backups.tags("0badf00d", installation.places.installation, folders),
        os.devnull,
        Progress(),
    )
    hostile = next(backup for backup in installation.backups() if backup.id == "0badf00d")
    with (
        raises("backup_damaged", names="not a file"),
        rebuilt(installation.repository, hostile, "vault", installation.folder / "place"),
    ):
        pass
    assert not (installation.folder / "place").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_repository_of_a_stranger_raises_nothing_without_trust(installation: Installation) -> None:
    outside = installation.folder / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine")
    for name in ("keys.yaml", "trust.db", "hooks.yaml"):
        (installation.home / name).write_text("mine")
    vault, copies = installation.vault, installation.places.staging
    for folder in (vault, copies / "vault", copies / "trust"):
        (folder / ".parachute").mkdir(parents=True, exist_ok=True)
        for name in ("keys.yaml", "trust.db", ".parachute/trust.db"):
            (folder / name).write_text("a stranger's")
    (vault / "out").symlink_to(outside)
    (vault / ".claude").symlink_to(installation.home)
    (vault / "program").write_text("#!/bin/sh")
    (vault / "program").chmod(0o6755)
    os.mknod(vault / "device", stat.S_IFBLK | 0o666, os.makedev(1, 1))
    os.link(vault / "program", vault / "twin")
    folders = {"vault": str(vault), "trust": str(installation.home)}
    tags = backups.tags("0badf00d", installation.places.installation, folders)
    (installation.home / "keys.yaml").write_text("a stranger's")
    installation.repository.store([vault, installation.home, copies], tags, os.devnull, Progress())
    (installation.home / "keys.yaml").write_text("mine")
    before = looked_at(installation.home, (b"backup",))
    remove_tree(vault)
    vault.mkdir()
    assert list(installation.restore().places) == ["vault"]
    assert looked_at(installation.home, (b"backup",)) == before
    assert [path.read_text() for path in outside.iterdir()] == ["mine"]
    modes = {path.name: path.lstat().st_mode for path in vault.iterdir()}
    assert (modes["program"], modes["twin"]) == (stat.S_IFREG | 0o755,) * 2
    assert "device" not in modes
    assert (vault / "out").is_symlink()


def test_a_folder_of_databases_that_is_a_link_leads_nowhere(installation: Installation) -> None:
    """In the restored vault: what would be put below it stays out of where it leads."""
    outside = installation.folder / "outside"
    outside.mkdir()
    copy = installation.places.staging / "vault" / ".parachute" / "sessions.db"
    copy.parent.mkdir(parents=True)
    copy.write_text("forged")
    (installation.vault / ".parachute").rmdir()
    (installation.vault / ".parachute").symlink_to(outside)
    folders = {"vault": str(installation.vault), "trust": str(installation.home)}
    installation.repository.store(
        [installation.vault, installation.home],
        backups.tags("0badf00d", installation.places.installation, folders),
        os.devnull,
        Progress(),
    )
    with raises("backup_failed", names="cannot be restored"):
        installation.restore()
    assert list(outside.iterdir()) == []


def test_what_is_neither_file_folder_nor_link_does_not_come_back(installation: Installation) -> None:
    os.mkfifo(installation.vault / "pipe")
    assert installation.create().reports["vault"].special == ["pipe"]
    installation.restore()
    assert not (installation.vault / "pipe").exists()


@pytest.mark.parametrize(
    "address",
    [
        *("sftp:-oProxyCommand=touch x:/y", "sftp:me@-oX:/y", "sftp:a@b@-oX:/y", "sftp:a/b@-oX:/y", "sftp:-oX/y:/z"),
        *("sftp://-oX/y", "sftp://me@-oX/y", "sftp://a@b@-oX/y", "sftp:", "sftp://", "sftp:host"),
        *(
            "rclone:--config=x:y",
            "rclone::sftp,ssh=touch x:y",
            'rclone:name,ssh="touch x":y',
            "rclone:name",
            "rclone::",
        ),
    ],
)
def test_an_address_cannot_have_ssh_or_rclone_start_a_program(installation: Installation, address: str) -> None:
    with raises("starts_a_program"):
        access.find(installation.places, address, None, None)


@pytest.mark.parametrize(
    "address",
    [
        *("sftp:host:/backup", "sftp:me@host:backup", "sftp:me@home.example@host:/a:b@-c", "sftp:me@fd00--1:/x"),
        *(
            "sftp://host",
            "sftp://me@host:2222//srv/backup",
            "sftp://me@home.example@[::1]:22/x",
            "rclone:My Drive:a/b,c=d",
        ),
    ],
)
def test_ordinary_addresses_of_ssh_and_rclone_are_taken(installation: Installation, address: str) -> None:
    assert access.find(installation.places, address, None, None).repository == address


def test_what_opens_the_repository_does_not_lie_in_the_vault(installation: Installation) -> None:
    inside = installation.vault / "secret"
    for files in ((inside, None), (None, inside)):
        with raises("lies_in_the_vault"):
            access.find(installation.places, "rest:https://host/", *files)


def test_a_password_in_an_address_is_never_shown() -> None:
    shown = access.Access("rest:https://me:se@c:ret@host/", Path("x")).shown
    assert shown == "rest:https://me:***@host/"
