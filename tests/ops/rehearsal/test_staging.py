"""The copies that a new version is started on."""

import os
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from parachute.config.settings.home import Home
from parachute.ops.recovery.inspection import problem
from parachute.ops.rehearsal.staging import Scratch, TooSlow
from tests.support.errors import raises
from tests.support.small_disk import small_disk

pytestmark = pytest.mark.process


class Installation:
    """A state directory and a vault in which something writes a database."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / ".parachute")
        self.vault = folder / "Parachute"
        self.scratch = Scratch.of(self.home)
        for made in (self.home.root / "module-data" / "daily", self.home.root / "backup", self.vault / ".parachute"):
            made.mkdir(parents=True)
        self.home.root.chmod(0o700)
        (self.home.root / "config.yaml").write_text(yaml.safe_dump({"vault": str(self.vault)}))
        (self.vault / "Note.md").write_text("A note.")

    def database(self, path: Path) -> sqlite3.Connection:
        """A database with a row that is in its log only, as long as the connection is open."""
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.execute("INSERT INTO notes VALUES ('kept')")
        return connection


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


@pytest.fixture
def overlaid(tmp_path: Path) -> Iterator[Installation]:
    """One on a file system that can hold no views."""
    if os.geteuid():
        pytest.skip("only root mounts a file system")
    parts = [tmp_path / name for name in ("lower", "upper", "work", "merged")]
    for part in parts:
        part.mkdir()
    lower, upper, work, merged = map(str, parts)
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    mounted = subprocess.run(
        ["mount", "-t", "overlay", "overlay", "-o", options, merged], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no overlay can be mounted here: {mounted.stderr.strip()}")
    try:
        yield Installation(parts[3])
    finally:
        subprocess.run(["umount", "--lazy", merged], check=True)


@pytest.mark.usefixtures("views_work")
def test_databases_are_whole_while_they_are_written_and_secrets_stay(installation: Installation) -> None:
    home, vault = installation.home.root, installation.vault
    for name in ("credentials.json", "bot-tokens.json", "mcp-secrets.json", "mcp-logins.json", "backup/password"):
        (home / name).write_text("secret")
    (home / "link").symlink_to("/nowhere")
    own, modules, sessions = home / "trust.db", home / "module-data/daily/index.db", vault / ".parachute/sessions.db"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(home / "sock"))
        connections = [installation.database(path) for path in (own, modules, sessions)]
        with installation.scratch.made():
            staged = installation.scratch.stage(installation.home, vault)
            copy = installation.scratch.folder / "state"
            assert staged.binds == [(str(copy), str(home))]
            assert [source for source, _ in staged.views] == [str(vault)]
            ((moved, place),) = staged.databases
            assert place == str(sessions)
            for database in (copy / "trust.db", copy / "module-data/daily/index.db", Path(moved)):
                assert problem(database) is None
                with closing(sqlite3.connect(database)) as connection:
                    assert connection.execute("SELECT text FROM notes").fetchall() == [("kept",)]
            held = {str(path.relative_to(copy)) for path in copy.rglob("*") if not path.is_dir()}
            expected = {"config.yaml", "link", "trust.db", "module-data/daily/index.db"}
            assert {name for name in held if not name.endswith(("-shm", "-wal"))} == expected
            assert (copy / "link").readlink() == Path("/nowhere")
        for connection in connections:
            connection.close()
    assert not installation.scratch.folder.exists()


def test_without_views_the_vault_is_copied(overlaid: Installation) -> None:
    (overlaid.vault / "Folder").mkdir(mode=0o500)
    overlaid.database(overlaid.vault / ".parachute" / "sessions.db").close()
    with overlaid.scratch.made():
        staged = overlaid.scratch.stage(overlaid.home, overlaid.vault)
        copy = overlaid.scratch.folder / "vault"
        assert (str(copy), str(overlaid.vault)) in staged.binds
        assert staged.views == []
        assert (copy / "Note.md").read_text() == "A note."
        assert (copy / "Folder").stat().st_mode & 0o777 == 0o500
        assert len(staged.databases) == 1
    assert not overlaid.scratch.folder.exists()


def test_what_does_not_fit_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        installation = Installation(disk.folder)
        (installation.home.root / "large").write_bytes(bytes(1 << 20))
        with installation.scratch.made(), raises("disk_full", names=r"2[67]\d MB"):
            installation.scratch.stage(installation.home, installation.vault)
        assert not installation.scratch.folder.exists()


def test_copies_that_take_too_long_are_given_up(installation: Installation) -> None:
    with installation.scratch.made(), pytest.raises(TooSlow):
        installation.scratch.stage(installation.home, installation.vault, deadline=0.0)
    assert not installation.scratch.folder.exists()


def test_a_damaged_database_is_named(installation: Installation) -> None:
    (installation.home.root / "trust.db").write_bytes(b"no database" * 1000)
    with installation.scratch.made(), raises("database_damaged", names=r"trust\.db"):
        installation.scratch.stage(installation.home, installation.vault)


def test_what_a_killed_rehearsal_has_left_is_removed(installation: Installation) -> None:
    left = installation.scratch.folder / "views" / "0" / "work" / "work"
    left.mkdir(parents=True)
    left.chmod(0)
    with installation.scratch.made():
        assert list(installation.scratch.folder.iterdir()) == []
