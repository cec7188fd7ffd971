"""Copies of databases while the server runs: within an hour when they are due, and never twice a day."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.ops.recovery.copies import daily_copy, newest_copy
from parachute.ops.recovery.service import Recovery
from tests.base.migrations import m0001
from tests.support.clock import ManualClock

WRITE = "INSERT INTO things (text) VALUES ('x')"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """A database that nothing else could make anew."""
    made = Database(tmp_path / "sessions.db", [m0001])
    yield made
    await made.close()


async def test_what_has_changed_is_copied_once_a_day(tmp_path: Path, database: Database) -> None:
    clock = ManualClock()
    recovery = Recovery(tmp_path, clock)
    await recovery.open([database])
    recovery.start()
    copy = daily_copy(database.path)
    await clock.advance(59 * 60, "copies of databases")
    assert not copy.exists()
    await clock.advance(60, "copies of databases")
    assert newest_copy(database.path, daily_only=True) == copy

    first = copy.stat().st_ino
    await database.write(WRITE)
    await clock.advance(3600, "copies of databases")
    assert copy.stat().st_ino == first, "it is not a day old"
    os.utime(copy, (copy.stat().st_mtime - 25 * 3600,) * 2)
    await clock.advance(3600, "copies of databases")
    assert copy.stat().st_ino != first
    await recovery.close()


async def test_a_small_one_is_copied_at_the_end(tmp_path: Path, database: Database) -> None:
    recovery = Recovery(tmp_path, ManualClock())
    await recovery.open([database])
    recovery.start()
    await database.write(WRITE)
    await database.close()
    await recovery.close()
    assert newest_copy(database.path, daily_only=True) == daily_copy(database.path)
