"""Backups that older versions made, with databases of then, come back into this version and are brought up to date."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing, nullcontext
from pathlib import Path

import httpx2
import pytest

from parachute.automation.suggestions import store as suggestions
from parachute.base.database import Database, Migration
from parachute.chat.sessions import migrations
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.llm.gateway.store import create_usage
from parachute.ops.backup import restore
from parachute.ops.backup.models import Progress
from parachute.ops.backup.places import Places
from parachute.ops.backup.repository import Repository
from parachute.ops.backup.restic import Restic
from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.installation import PLAIN

from .installation import Installation

pytestmark = pytest.mark.long


async def written_then(path: Path, applied: Sequence[Migration], rows: dict[str, tuple[object, ...]]) -> None:
    """A database as it was after some of the migrations, with a row in each of these tables."""
    database = Database(path, applied)
    await database.open()
    await database.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement, values in rows.items():
            connection.execute(statement, values)


async def furnish_as_then(installation: Installation) -> None:
    """A computer of the first versions: a conversation, a suggestion table and trust of its own, all with few migrations."""
    state = installation.vault / ".parachute"
    names = "id, created_at, updated_at, title, message_count, archived, source, trust_level, metadata, summary"
    session = ("s1", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "The kettle", 2, 0, "parachute", "sandboxed", "{}")
    shown = {"id": "s1", "title": "The kettle", "createdAt": session[1], "updatedAt": session[2], "archived": False}
    insert = f"INSERT INTO sessions ({names}) VALUES ({', '.join('?' * 10)})"
    await written_then(state / "sessions.db", migrations.ALL[:2], {insert: (*session, json.dumps(shown))})
    await written_then(state / "suggestions.db", suggestions.ALL[:1], {})
    await written_then(installation.home / "trust.db", (create_usage, *migrations.TRUST[:1]), {})
    (installation.vault / "Daily").mkdir()
    (installation.vault / "Daily" / "2026-01-01.md").write_text("what I wrote then")


def migrations_of(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM migrations")}


@pytest.mark.computer
async def test_a_backup_of_an_older_version_starts_in_this_one(installation: Installation) -> None:
    await furnish_as_then(installation)
    installation.create()
    computer = Computer()
    places = Places(computer.home.root, computer.vault)
    computer.vault.mkdir()
    computer.home.config.write_text(f"vault: {computer.vault}\n")
    (places.folder / "password").write_text(installation.access.password_file.read_text())
    (places.folder / "password").chmod(0o600)
    access = type(installation.access)(str(installation.repository_folder), places.folder / "password")
    repository = Repository(Restic(places, access))
    restore.restore(places, repository, installation.latest(), nullcontext, Progress(), trust=True)
    assert load(Home(computer.home.root)).vault == computer.vault
    state = computer.vault / ".parachute"
    before = migrations_of(state / "sessions.db")
    assert before == {each.__name__ for each in migrations.ALL[:2]}
    with computer:
        headers = {"authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}
        listed = httpx2.get(f"{computer.url}/api/chat", headers=headers, timeout=60, **PLAIN).json()["sessions"]
        assert [(each["id"], each["title"]) for each in listed] == [("s1", "The kettle")]
        assert (computer.vault / "Daily" / "2026-01-01.md").read_text() == "what I wrote then"
        found = httpx2.get(f"{computer.url}/api/status", headers=headers, timeout=60, **PLAIN).json()
        assert found["recovery"] == [], "nothing was damaged or lost on the way"
        assert migrations_of(state / "sessions.db") == {each.__name__ for each in migrations.ALL}
        assert migrations_of(computer.home.root / "trust.db") > {create_usage.__name__}
        # As it came back, each database is kept beside the new one.
        assert list((state / "copies").glob("sessions-0002.db"))
