"""Restored files are as before, whatever their names and kinds."""

# Path holds no names that are bytes.
# ruff: noqa: PTH103, PTH211

import os
import socket
import sqlite3
from pathlib import Path

import pytest

from parachute.ops.backup import proof
from parachute.ops.backup.models import Progress
from tests.support.errors import raises
from tests.support.own_thread import here

from .installation import Installation, Meanwhile, looked_at

pytestmark = pytest.mark.long


def furnish(vault: Path) -> None:
    """A vault with everything that a file system allows."""
    top = os.fsencode(vault)
    names = [
        *(
            b"plain.md",
            b"two\nlines",
            b"not utf-8 \xff\xfe",
            "😀 Ümläut".encode(),
            b" blanks ",
            b"-n",
            b"$HOME",
            b"a*b?[c]",
        ),
        *(b"back\\slash", b"\"quotes'", b"!not", b"#hash", b"\x07bell", b"x" * 255, b"~", b"{a,b}", b"node_modules"),
    ]
    for number, name in enumerate(names):
        folder = top + b"/Projects/" + name
        os.makedirs(folder)
        with open(folder + b"/" + name, "wb") as file:
            file.write(b"content %d" % number)
    daily = vault / "Daily"
    daily.mkdir()
    (daily / "empty").touch()
    (daily / "no files" / "below").mkdir(parents=True)
    (daily / "one").write_text("one file, two names")
    os.link(daily / "one", vault / "Projects" / "other")
    for link, target in {
        "out": "/etc/passwd",
        "gone": "nowhere",
        "up": "../../x",
        "self": "self",
        "odd": "./a//b/",
    }.items():
        os.symlink(target, daily / link)
    os.symlink(daily / "no files", daily / "folder")
    with (daily / "sparse").open("wb") as file:
        file.truncate(5_000_000)
        file.seek(3_000_000)
        file.write(b"in the middle")
    for mode in (0o400, 0o444, 0o600, 0o755, 0o777):
        (daily / f"mode{mode:o}").write_text("x")
        (daily / f"mode{mode:o}").chmod(mode)
    (daily / "closed").mkdir()
    (daily / "closed" / "in it").write_text("x")
    (daily / "closed").chmod(0o500)
    (daily / "old").write_text("x")
    os.utime(daily / "old", ns=(1_000_000_007, 1_000_000_007))
    os.mkfifo(daily / "pipe")
    (vault / "Projects" / "__pycache__").mkdir()
    (vault / "Projects" / "__pycache__" / "x.pyc").write_text("made anew")
    with sqlite3.connect(vault / ".parachute" / "sessions.db") as connection:
        connection.execute("CREATE TABLE sessions (id TEXT)")
        connection.execute("INSERT INTO sessions VALUES ('abc')")
    connection.close()
    (vault / ".parachute" / "folder.db").mkdir()
    (vault / ".parachute" / "folder.db" / "page").write_text("a folder that is called like a database")
    os.symlink("sessions.db", vault / ".parachute" / "link.db")


_LEFT_OUT = (b"Daily/pipe", b"Projects/__pycache__", b".parachute/sessions.db")


def test_a_vault_comes_back_as_it_was_and_the_one_before_is_kept(installation: Installation) -> None:
    furnish(installation.vault)
    before = looked_at(installation.vault, _LEFT_OUT)
    made = installation.create()
    assert made.is_complete
    assert made.reports["vault"].special == ["Daily/pipe"]
    assert made.reports["vault"].databases == 1
    verified = proof.verify(installation.places, installation.repository, installation.latest(), Progress())
    assert verified.files == made.reports["vault"].files + made.reports["trust"].files

    (installation.vault / "Daily" / "one").write_text("changed after the backup")
    (installation.vault / "new").write_text("made after the backup")
    changed = looked_at(installation.vault)
    result = installation.restore()
    assert looked_at(installation.vault, _LEFT_OUT) == before
    assert (installation.vault / "Daily" / "closed").stat().st_mode & 0o777 == 0o500
    rows = sqlite3.connect(installation.vault / ".parachute" / "sessions.db")
    assert rows.execute("SELECT id FROM sessions").fetchall() == [("abc",)]
    rows.close()
    kept = result.kept["vault"]
    assert kept is not None
    assert looked_at(Path(kept)) == changed
    assert {path.name for path in installation.folder.iterdir()} == {".parachute", "Parachute", Path(kept).name, "usb"}
    assert not installation.places.staging.exists() or not list(installation.places.staging.iterdir())


def test_all_of_it_is_on_the_disk_before_it_is_put_in_place(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installation.vault / "note").write_text("then")
    (installation.home / "keys.yaml").write_text("then")
    installation.create()
    (installation.vault / "note").write_text("now")
    (installation.home / "keys.yaml").write_text("now")
    found: list[dict[str, str]] = []

    def synced() -> None:
        names = [*installation.folder.rglob("note"), *installation.folder.rglob("keys.yaml")]
        found.append({path.relative_to(installation.folder).parts[0]: path.read_text() for path in names})

    monkeypatch.setattr(os, "sync", here(synced, os.sync))
    installation.restore(trust=True)
    # What is restored of both is complete, and what was there before is in force.
    (then,) = found
    assert (then["Parachute"], then[".Parachute.restoring"]) == ("now", "then")
    assert (then[".parachute"], then[".parachute.restoring"]) == ("now", "then")


def test_a_change_that_hides_its_time_is_in_the_next_backup(installation: Installation) -> None:
    hidden = installation.vault / "hidden"
    hidden.write_text("before")
    installation.create()
    status = hidden.stat()
    hidden.write_text("after!")  # the same length
    os.utime(hidden, ns=(status.st_atime_ns, status.st_mtime_ns))
    installation.create()
    installation.restore_into(installation.folder / "back")
    assert (installation.folder / "back" / "vault" / "hidden").read_text() == "after!"


def test_what_changes_while_it_is_looked_at_is_in_the_backup_as_restic_has_read_it(installation: Installation) -> None:
    vault = installation.vault
    for name in ("grows", "stays", "goes", "turns"):
        (vault / name).write_text(f"{name} at first")
    (vault / "folder" / "inner").mkdir(parents=True)
    (vault / "folder" / "inner" / "passwd").write_text("in a folder")
    (vault / "link").symlink_to("stays")

    def before_restic() -> None:
        (vault / "grows").write_text("grows, and more")
        (vault / "comes").write_text("comes late")
        (vault / "goes").unlink()
        (vault / "link").unlink()
        (vault / "link").symlink_to("grows")
        (vault / "turns").unlink()
        (vault / "turns").mkdir()
        (vault / "turns" / "below").write_text("below")
        # A folder becomes a link that leads out of the vault.
        (vault / "folder" / "inner" / "passwd").unlink()
        (vault / "folder" / "inner").rmdir()
        (vault / "folder" / "inner").symlink_to("/etc")

    made = installation.create(Meanwhile(at_step="Storing the vault", on_step=before_restic))
    assert made.is_complete
    after = looked_at(vault)
    proof.verify(installation.places, installation.repository, installation.latest(), Progress())
    installation.restore_into(installation.folder / "back")
    assert looked_at(installation.folder / "back" / "vault") == after


def test_a_database_that_is_none_is_kept_as_it_is_and_named(installation: Installation) -> None:
    broken = installation.vault / ".parachute" / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    made = installation.create()
    assert made.reports["vault"].damaged == [".parachute/broken.db"]
    assert not made.is_complete
    installation.restore_into(installation.folder / "back")
    assert (installation.folder / "back" / "vault" / ".parachute" / "broken.db").read_bytes() == broken.read_bytes()


def test_a_backup_is_restored_only_into_an_empty_place(installation: Installation) -> None:
    installation.create()
    target = installation.folder / "back"
    target.mkdir()
    (target / "mine").write_text("mine")
    with raises("not_empty"):
        installation.restore_into(target)
    assert [path.name for path in target.iterdir()] == ["mine"]


def test_sockets_are_named_and_hold_up_nothing(installation: Installation) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(installation.vault / "s.sock"))
        made = installation.create()
    assert made.reports["vault"].special == ["s.sock"]
    proof.verify(installation.places, installation.repository, installation.latest(), Progress())
