"""The copies that a new version is started on."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from parachute.config.settings.home import Home
from parachute.ops.recovery.inspection import problem
from parachute.ops.rehearsal.staging import Scratch
from parachute.sandbox.engines.views import View
from tests.support.errors import raises
from tests.support.small_disk import small_disk

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("views_work")]


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


SHOWN = """
import os, sys
from pathlib import Path
from parachute.sandbox.engines import views

views.enter_namespace()
view = Path(f"/proc/self/fd/{views.opened(*sys.argv[1:])}")
print(*(path.relative_to(view) for path in (view, *view.rglob("*"))), sep="\\n")
"""


def shown(view: tuple[str, str]) -> set[str]:
    """Everything that a view shows, by relative path."""
    done = subprocess.run([sys.executable, "-c", SHOWN, *view], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines())


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_databases_are_whole_while_they_are_written_and_secrets_stay(installation: Installation) -> None:
    home, vault = installation.home.root, installation.vault
    for name in (
        "credentials.json",
        "bot-tokens.json",
        "mcp-secrets.json",
        "mcp-logins.json",
        "backup/password",
        ".bot-tokens.json.0a1b2c3d4e5f",
    ):
        (home / name).write_text("secret")
    own, modules, sessions = home / "trust.db", home / "module-data/daily/index.db", vault / ".parachute/sessions.db"
    connections = [installation.database(path) for path in (own, modules, sessions)]
    with installation.scratch.made():
        staged = installation.scratch.stage(installation.home, vault)
        state, data = (View(Path(view)).upper for _, view in staged)
        assert [source for source, _ in staged] == [str(home), str(vault)]
        copies = (state / "trust.db", state / "module-data/daily/index.db", data / ".parachute/sessions.db")
        for database in copies:
            assert problem(database) is None
            with closing(sqlite3.connect(f"{database.as_uri()}?immutable=1", uri=True)) as connection:
                assert connection.execute("SELECT text FROM notes").fetchall() == [("kept",)]
        assert shown(staged[0]) == {
            ".",
            "config.yaml",
            "module-data",
            "module-data/daily",
            "module-data/daily/index.db",
            "trust.db",
        }
        assert shown(staged[1]) == {".", "Note.md", ".parachute", ".parachute/sessions.db"}
    for connection in connections:
        connection.close()
    assert not installation.scratch.folder.exists()


def test_what_does_not_fit_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        installation = Installation(disk.folder)
        (installation.home.root / "large").write_bytes(bytes(1 << 20))
        with installation.scratch.made(), raises("disk_full", names=r"2[67]\d MB"):
            installation.scratch.stage(installation.home, installation.vault)
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


def test_where_there_are_no_views_everything_but_secrets_is_copied(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    (installation.home.root / "hooks").mkdir()
    (installation.home.root / "credentials.json").write_text("secret")
    with (
        closing(installation.database(installation.home.root / "trust.db")),
        installation.scratch.made(),
    ):
        (state, root), (data, vault) = installation.scratch.stage(installation.home, installation.vault, copied=True)
        assert (root, vault) == (str(installation.home.root), str(installation.vault))
        names = {path.name for path in Path(state).iterdir()}
        assert names == {"config.yaml", "module-data", "trust.db"}
        with closing(sqlite3.connect(Path(state, "trust.db"))) as copy:
            assert copy.execute("SELECT text FROM notes").fetchall() == [("kept",)]
        assert Path(data, "Note.md").read_text() == "A note."
    assert not installation.scratch.folder.exists()
