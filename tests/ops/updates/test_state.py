"""Keeping and putting back databases: at every step of it, and on a full disk."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from parachute.ops.updates.state import State
from tests.support.crashing import at_every_step
from tests.support.errors import raises
from tests.support.small_disk import small_disk

pytestmark = pytest.mark.process


class Roots:
    """A state directory and a vault's state with a database each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.vault = folder / "home", folder / "vault"
        self.home.mkdir()
        self.vault.mkdir()
        self.state = State(folder / "updates", self.home, self.vault)
        for database in self.databases:
            with closing(sqlite3.connect(database, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("CREATE TABLE migrations (name TEXT)")
                connection.execute("CREATE TABLE words (word TEXT)")
                connection.execute("INSERT INTO migrations VALUES ('first')")
                connection.execute("INSERT INTO words VALUES ('before')")
        (self.home / "config.yaml").write_text("port: 1\n")

    @property
    def databases(self) -> tuple[Path, Path]:
        return self.home / "trust.db", self.vault / "sessions.db"

    def migrate(self) -> None:
        """Migrate one of them and write to both, as a new version does."""
        for database in self.databases:
            with closing(sqlite3.connect(database, isolation_level=None)) as connection:
                if database.name == "sessions.db":
                    connection.execute("INSERT INTO migrations VALUES ('second')")
                connection.execute("INSERT INTO words VALUES ('since')")
        (self.home / "config.yaml").write_text("port: 2\n")


def words(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM words")]


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    return Roots(tmp_path)


def test_only_what_was_migrated_goes_back_and_what_was_written_since_is_kept(roots: Roots) -> None:
    roots.state.keep()
    roots.migrate()
    (said,) = roots.state.put_back()
    trust, sessions = roots.databases
    assert words(trust) == ["before", "since"]
    assert words(sessions) == ["before"]
    assert (roots.home / "config.yaml").read_text() == "port: 2\n"
    (since,) = roots.folder.glob("updates/*written-since*/vault/sessions.db")
    assert words(since) == ["before", "since"]
    assert str(since) in said


def test_all_of_it_goes_back_if_the_old_version_does_not_come_up(roots: Roots) -> None:
    roots.state.keep()
    roots.migrate()
    roots.state.put_back()
    said = roots.state.put_back(whole=True)
    assert [words(database) for database in roots.databases] == [["before"], ["before"]]
    assert (roots.home / "config.yaml").read_text() == "port: 1\n"
    assert sorted(sentence.split(" is as it was")[0].rpartition("/")[2] for sentence in said) == [
        "config.yaml",
        "sessions.db",
        "trust.db",
    ]


def test_what_is_kept_is_of_before_however_often_it_is_kept(roots: Roots) -> None:
    roots.state.keep()
    roots.migrate()
    roots.state.keep()
    roots.state.put_back(whole=True)
    assert [words(database) for database in roots.databases] == [["before"], ["before"]]


def test_a_database_that_the_new_version_has_damaged_goes_back(roots: Roots) -> None:
    roots.state.keep()
    sessions = roots.databases[1]
    sessions.write_bytes(b"no database" * 1000)
    roots.state.put_back()
    assert words(sessions) == ["before"]
    (since,) = roots.folder.glob("updates/*written-since*/vault/sessions.db")
    assert since.read_bytes() == b"no database" * 1000


def test_a_full_disk_is_noticed_before_anything_is_touched_and_does_not_bar_the_way_back(tmp_path: Path) -> None:
    with small_disk(tmp_path, 160) as disk:
        roots = Roots(tmp_path)
        roots.state.check_room()
        disk.fill()
        with raises("update_failed", names="0 MB"):
            roots.state.check_room()
        with pytest.raises((OSError, sqlite3.Error)):
            roots.state.keep()
        assert not roots.state.is_kept
        disk.make_room()
        roots.state.keep()
        roots.migrate()
        disk.fill()
        roots.state.put_back()
        assert [words(database) for database in roots.databases] == [["before", "since"], ["before"]]


class Crashes:
    """Killing at every step, on installations of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self.roots: Roots

    def prepare(self) -> None:
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        self.roots = Roots(folder)


@pytest.mark.long
def test_it_is_killed_at_every_step_of_keeping(tmp_path: Path) -> None:
    crashes = Crashes(tmp_path)

    def keep(counted: Any) -> None:
        counted()
        crashes.roots.state.keep()

    def look() -> dict[str, Any]:
        # The next one keeps it anew, and nothing of the databases has changed.
        crashes.roots.state.keep()
        crashes.roots.migrate()
        crashes.roots.state.put_back(whole=True)
        return {"words": [words(database) for database in crashes.roots.databases]}

    found = at_every_step(crashes.prepare, keep, look)
    assert len(found) > 5
    assert {str(each["words"]) for each in found} == {"[['before'], ['before']]"}


@pytest.mark.long
def test_it_is_killed_at_every_step_of_putting_back(tmp_path: Path) -> None:
    crashes = Crashes(tmp_path)

    def prepare() -> None:
        crashes.prepare()
        crashes.roots.state.keep()
        crashes.roots.migrate()

    def put_back(counted: Any) -> None:
        counted()
        crashes.roots.state.put_back()

    def look() -> dict[str, Any]:
        crashes.roots.state.put_back()
        kept = [words(path) for path in crashes.roots.folder.glob("updates/*written-since*/vault/sessions.db")]
        return {"words": [words(database) for database in crashes.roots.databases], "kept": kept}

    found = at_every_step(prepare, put_back, look)
    assert len(found) > 5
    assert {str(each["words"]) for each in found} == {"[['before', 'since'], ['before']]"}
    assert all(["before", "since"] in each["kept"] for each in found)
