"""Vaults and repositories that are made so that a restore fails, or changes what it should not."""

# Path holds no names that are bytes.
# ruff: noqa: PTH115, PTH211

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from parachute.backup import access, drill, swap
from parachute.backup.backups import CLOSED, Pair, tags
from parachute.backup.models import BackupFailed, Damaged, Silent
from parachute.backup.rebuild import rebuilt, remove
from parachute.backup.repository import Snapshot
from parachute.errors import Conflict, InvalidInput

from .household import Household

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


def test_a_path_too_long_to_be_restored_is_named_and_keeps_nothing_else_from_it(household: Household) -> None:
    (household.vault / "note").write_text("mine")
    with nested(household.vault, "d" * 200, 30) as innermost:
        write(innermost, "deep")
    made = household.create()
    assert not made.is_complete
    assert [path[:3] for path in made.reports["vault"].unreadable] == ["ddd"]
    household.restore()
    assert (household.vault / "note").read_text() == "mine"


def test_folders_nested_too_deep_are_named_and_what_restic_brings_of_them_is_removed(household: Household) -> None:
    with nested(household.vault, "d", 1010) as innermost:
        write(innermost, "deep")
    try:
        assert not household.create().is_complete
        drill.drill(household.places, household.repository, Silent())
        assert not (household.places.folder / "parachute-drill").exists()
    finally:
        remove(household.vault / "d")


def test_a_time_that_restic_cannot_hold_comes_back(household: Household) -> None:
    note = household.vault / "note"
    note.write_text("of the future")
    os.utime(note, ns=(_BEYOND_RESTIC, _BEYOND_RESTIC))
    kept = note.stat().st_mtime_ns
    household.create()
    household.restore()
    assert note.stat().st_mtime_ns == kept


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into every folder")
def test_what_is_overlaid_in_a_read_only_folder_comes_back(household: Household) -> None:
    folder = household.vault / "closed"
    folder.mkdir()
    os.symlink(b"\xff", os.fsencode(folder / "link"))
    folder.chmod(0o555)
    household.create()
    household.restore()
    assert os.readlink(os.fsencode(folder / "link")) == b"\xff"
    assert folder.stat().st_mode & 0o777 == 0o555


def test_the_vault_of_before_is_there_if_it_cannot_be_renamed_at_the_end(
    household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = household.vault.rename(household.folder / ("v" * 225))
    household.places = replace(household.places, vault=vault)
    (vault / "note").write_text("then")
    household.create()
    (vault / "note").write_text("now")
    with pytest.raises(InvalidInput, match="too long"):
        household.restore()
    # Without that look ahead the system refuses the last of the steps.
    monkeypatch.setattr(swap, "_LONGEST", 255)
    with pytest.raises(BackupFailed, match="is restored, but"):
        household.restore()
    assert (vault / "note").read_text() == "then"
    assert (swap.restored_name(vault) / "note").read_text() == "now"


def test_a_folder_that_may_be_the_vault_of_before_is_not_removed(household: Household) -> None:
    household.create()
    other = swap.restored_name(household.vault)
    other.mkdir()
    (other / "note").write_text("of before")
    # As on a file system that numbers its files anew with each mount.
    cut_off = replace(swap.Swap.planned(household.vault, other, datetime.now(UTC)), inode=0)
    (household.folder / ".parachute.restore.json").write_text(json.dumps(asdict(cut_off)))
    with pytest.raises(Conflict, match="cannot be told"):
        household.restore()
    assert (other / "note").read_text() == "of before"


def test_a_snapshot_whose_folder_lies_elsewhere_changes_nothing_there(household: Household) -> None:
    outside = household.folder / "outside"
    outside.mkdir()
    (household.vault / "link").symlink_to(outside)
    household.create()
    files = household.latest().pairs["vault"].files
    for number, path in enumerate((f"{household.vault}/link", f"/{'../' * 20}{str(outside).lstrip('/')}")):
        with pytest.raises(BackupFailed, match="leads out"):
            household.repository.restore(replace(files, path=path), household.folder / f"place{number}")


def test_a_link_beside_the_manifest_brings_in_no_file_of_this_computer(household: Household) -> None:
    household.create()
    pair = household.latest().pairs["vault"]
    hostile = household.folder / "hostile"
    hostile.mkdir()
    (hostile / "content").mkdir()
    (hostile / "content" / "000001").symlink_to(household.access.password_file)
    household.repository.store(hostile, tags("vault", CLOSED, "0badf00d", "0" * 16))
    closed: Snapshot = max(household.repository.snapshots(), key=lambda found: found.made_at)
    with (
        pytest.raises(Damaged, match="which is no file"),
        rebuilt(household.repository, "vault", Pair(pair.files, closed), household.folder / "place"),
    ):
        pass
    assert not (household.folder / "place").exists()


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
def test_an_address_cannot_have_ssh_or_rclone_start_a_program(household: Household, address: str) -> None:
    with pytest.raises(InvalidInput, match="start a program"):
        access.find(household.places, address, None, None)


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
def test_ordinary_addresses_of_ssh_and_rclone_are_taken(household: Household, address: str) -> None:
    assert access.find(household.places, address, None, None).repository == address


def test_what_opens_the_repository_does_not_lie_in_the_vault(household: Household) -> None:
    inside = household.vault / "secret"
    for files in ((inside, None), (None, inside)):
        with pytest.raises(InvalidInput, match="where agents can read it"):
            access.find(household.places, "rest:https://host/", *files)


def test_a_password_in_an_address_is_never_shown() -> None:
    shown = access.Access("rest:https://me:se@c:ret@host/", Path("x")).shown
    assert shown == "rest:https://me:***@host/"
