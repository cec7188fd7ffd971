"""Backups that earlier versions have made are listed, verified, drilled, restored and removed as ever."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from parachute.ops.backup import old_layout, proof
from parachute.ops.backup.backups import Retention
from parachute.ops.backup.models import Damaged, Progress
from tests.support.errors import raises

from .installation import Installation, looked_at
from .old_layout import OldBackup, line
from .test_round_trip import furnish

pytestmark = pytest.mark.long


def test_a_backup_of_an_earlier_version_comes_back(installation: Installation) -> None:
    (installation.home / "keys.yaml").write_text("of then")
    with sqlite3.connect(installation.vault / ".parachute" / "sessions.db") as connection:
        connection.execute("CREATE TABLE sessions AS SELECT 'abc' AS id")
    connection.close()
    for name in ("stays", "moves"):
        (installation.vault / name).write_text(f"{name} at first")
    (installation.vault / "folder").mkdir()
    (installation.vault / "link").symlink_to("stays")
    (installation.vault / "folder").chmod(0o500)
    before = looked_at(installation.vault, (b".parachute/sessions.db",))
    run = OldBackup(installation, {"moves": b"moved while restic read"}).make()

    (listed,) = installation.backups()
    assert (listed.id, listed.is_finished, listed.is_of(installation.places.installation)) == (run, True, True)
    assert installation.latest().id == run
    assert proof.verify(installation.places, installation.repository, listed, Progress()).files >= 4
    assert proof.drill(installation.places, installation.repository, Progress()).databases == 1

    (installation.vault / "stays").write_text("now")
    (installation.home / "keys.yaml").write_text("now")
    installation.restore(trust=True)
    assert (installation.vault / "moves").read_bytes() == b"moved while restic read"
    assert (installation.home / "keys.yaml").read_text() == "of then"
    after = looked_at(installation.vault, (b".parachute/sessions.db",))
    assert {name: found for name, found in after.items() if name != b"moves"} == {
        name: found for name, found in before.items() if name != b"moves"
    }
    rows = sqlite3.connect(installation.vault / ".parachute" / "sessions.db")
    assert rows.execute("SELECT id FROM sessions").fetchall() == [("abc",)]
    rows.close()
    # It is the same repository: a new backup stands beside it.
    assert installation.create().is_complete
    assert [backup.is_finished for backup in installation.backups()] == [True, True]


def test_old_backups_are_removed_by_the_same_rules_and_what_a_crash_left_of_them_as_well(
    installation: Installation,
) -> None:
    (installation.vault / "note").write_text("mine")
    unfinished = OldBackup(installation)
    unfinished.store_files("vault", installation.vault)
    old = [OldBackup(installation).make() for _ in range(3)]
    assert installation.latest().id == old[-1]
    assert [backup.is_finished for backup in installation.backups()] == [False, True, True, True]
    made = installation.create(retention=Retention(1, 0, 0))
    assert made.removed == 2
    assert {backup.id for backup in installation.backups()} == {*old[1:], made.id}


def test_damage_in_an_old_backup_is_found(installation: Installation) -> None:
    (installation.vault / "big").write_bytes(os.urandom(3_000_000))
    OldBackup(installation).make()
    installation.flip_bytes()
    with pytest.raises(Damaged):
        proof.verify(installation.places, installation.repository, installation.latest(), Progress())
    with raises("backup_damaged", names="big"):
        proof.drill(installation.places, installation.repository, Progress())
    with raises("backup_damaged", names="big"):
        installation.restore()


NOTE = {"path": "note", "kind": "file", "mode": 0o600, "content": "000000"}


@pytest.mark.parametrize(
    "changes",
    [
        *[{"path": path} for path in (7, "/etc/passwd", "../note", "a/../../note", "out/note", "a/..", "a\0b")],
        *[{"kind": kind} for kind in ("socket", None)],
        *[{"content": content} for content in (7, "../../etc/passwd", "1/2", "000009")],
        {"mode": "600"},
    ],
)
def test_a_manifest_that_somebody_has_changed_changes_nothing_outside(tmp_path: Path, changes: dict[str, Any]) -> None:
    closed, root, outside = (tmp_path / name for name in ("closed", "root", "outside"))
    for folder in (closed / "content", root, outside):
        folder.mkdir(parents=True)
    (root / "out").symlink_to(outside)
    (closed / "content" / "000000").write_text("forged")
    lines = [{"version": 1, "part": "vault"}, {**NOTE, **changes}]
    (closed / "manifest.jsonl").write_bytes(b"".join(map(line, lines)))
    with raises("backup_damaged", names="manifest"):
        old_layout.put_in_place(closed, root, "vault")
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "text", [b"", b"[]\n", b"7\n", b'{"version": 1}\n', b'{"part": "trust"}\n', b"{" * 100_000 + b"\n"]
)
def test_what_is_no_manifest_is_not_believed(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "manifest.jsonl").write_bytes(text)
    with raises("backup_damaged", names="manifest"):
        old_layout.put_in_place(tmp_path, tmp_path, "vault")


def test_a_link_beside_the_manifest_brings_in_no_file_of_this_computer(installation: Installation) -> None:
    old = OldBackup(installation)
    for part, root in (("vault", installation.vault), ("trust", installation.home)):
        folder = old.staging(part)
        entries = old.entries(part, root, folder / "content")
        (folder / "content" / "000999").symlink_to(installation.access.password_file)
        old.store_files(part, root)
        old.close(part, folder, entries)
    with raises("backup_damaged"):
        installation.restore_into(installation.folder / "back")
    assert not list(Path(installation.folder / "back").iterdir())


def test_everything_that_a_file_system_allows_comes_back_from_an_old_backup(installation: Installation) -> None:
    furnish(installation.vault)
    (installation.vault / "Daily" / "pipe").unlink()
    os.symlink(b"\xff\n", os.fsencode(installation.vault / "Daily" / "bytes"))  # noqa: PTH211 - bytes
    left_out = (b".parachute/sessions.db",)
    before = looked_at(installation.vault, left_out)
    OldBackup(installation).make()
    installation.restore()
    assert looked_at(installation.vault, left_out) == before
