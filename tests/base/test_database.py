"""The database that every store uses: what it does when things go wrong."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.base.errors import Unavailable
from tests.base.migrations import m0001, m0002
from tests.support.errors import raises
from tests.support.waiting import SECONDS

pytestmark = pytest.mark.process


def m0002_broken(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM things")
    connection.execute("CREATE TABLE half (id INTEGER)")
    raise sqlite3.OperationalError("this step fails")


async def filled(path: Path) -> None:
    database = Database(path, [m0001])
    await database.open()
    await database.write("INSERT INTO things (text) VALUES ('one')")
    await database.close()


async def test_a_migration_copies_the_file_first(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await filled(path)
    assert not (tmp_path / "copies").exists()
    database = Database(path, [m0001, m0002])
    await database.open()
    assert [tuple(row) for row in await database.rows("SELECT * FROM things")] == [(1, "one", None)]
    await database.close()
    (copy,) = (tmp_path / "copies").iterdir()
    assert copy.name == "a-0001.db"
    for file in (path, copy):
        assert file.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(copy) as connection:
        assert connection.execute("SELECT * FROM things").fetchall() == [(1, "one")]
    connection.close()


async def test_each_migration_runs_once(tmp_path: Path) -> None:
    for _ in range(2):
        database = Database(tmp_path / "a.db", [m0001, m0002])
        await database.open()
        await database.close()
    assert not (tmp_path / "copies").exists()


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await filled(path)
    database = Database(path, [m0001, m0002_broken])
    with raises("database_unavailable", names=r"a\.db.*this step fails"):
        await database.open()
    await filled(path)
    again = Database(path, [m0001])
    await again.open()
    assert len(await again.rows("SELECT * FROM things")) == 2
    assert await again.rows("SELECT 1 FROM sqlite_master WHERE name = 'half'") == []
    await again.close()


async def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    newer = Database(path, [m0001, m0002])
    await newer.open()
    await newer.close()
    before = path.read_bytes()
    with pytest.raises(Unavailable) as refused:
        await Database(path, [m0001]).open()
    assert refused.value.key == "database_newer"
    assert "m0002" in refused.value.message
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"this is no database, but a text that is long enough" * 100, b"SQLite format 3\0" * 300]
)
async def test_what_is_no_database(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    with raises("database_unavailable", names=r"a\.db"):
        await Database(path, [m0001]).open()
    assert path.read_bytes() == content


async def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.db").mkdir()
    with raises("database_unavailable", names=r"a\.db"):
        await Database(tmp_path / "a.db", [m0001]).open()
    (tmp_path / "file").touch()
    with raises("database_unavailable", names=r"file/a\.db"):
        await Database(tmp_path / "file" / "a.db", [m0001]).open()


@pytest.mark.parametrize("name", ["with space", "50% #1", "a?mode=rwc", "ü & ö"])
async def test_any_name_of_a_folder(tmp_path: Path, name: str) -> None:
    database = Database(tmp_path / name / "a.db", [m0001])
    await database.open()
    await database.write("INSERT INTO things (text) VALUES ('one')")
    assert len(await database.rows("SELECT * FROM things")) == 1
    await database.close()
    assert [path.name for path in tmp_path.iterdir()] == [name]


async def test_a_transaction_that_raises_is_rolled_back(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", [m0001])
    await database.open()

    async def fail() -> None:
        async with database.transaction() as connection:
            await connection.execute("INSERT INTO things (text) VALUES ('one')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await database.rows("SELECT * FROM things") == []
    with pytest.raises(sqlite3.IntegrityError):
        await database.write("INSERT INTO things (text) VALUES (NULL)")
    assert await database.write("INSERT INTO things (text) VALUES ('two')") == 1
    await database.close()


async def test_a_task_that_is_cancelled_at_any_moment_does_not_hold_the_database(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", [m0001])
    await database.open()

    async def write() -> None:
        async with database.transaction() as connection:
            await connection.execute("INSERT INTO things (text) VALUES ('one')")
            await connection.execute("INSERT INTO things (text) VALUES ('two')")

    for steps in range(60):
        task = asyncio.create_task(write())
        for _ in range(steps % 20):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await database.write("INSERT INTO things (text) VALUES ('after')")
    rows = await database.rows("SELECT text, COUNT(*) FROM things GROUP BY text")
    counts: dict[str, int] = dict(rows)  # type: ignore[arg-type]
    assert counts["after"] == 60
    assert counts.get("one") == counts.get("two")
    await database.close()


async def test_many_writers_wait_for_each_other(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", [m0001])
    await database.open()

    async def add() -> None:
        async with database.transaction() as connection:
            (row,) = await connection.execute_fetchall("SELECT COUNT(*) FROM things")
            await connection.execute("INSERT INTO things (text) VALUES (?)", (str(row[0]),))

    await asyncio.gather(*(add() for _ in range(50)))
    rows = await database.rows("SELECT text FROM things ORDER BY id")
    assert [text for (text,) in rows] == [str(number) for number in range(50)]
    await database.close()


async def test_the_reader_cannot_write_and_keys_are_checked(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", [m0001])
    await database.open()
    with pytest.raises(Unavailable) as refused:
        await database.rows("INSERT INTO things (text) VALUES ('x')")
    assert refused.value.key == "disk_read_only"
    async with database.transaction() as connection:
        (keys,) = await connection.execute_fetchall("PRAGMA foreign_keys")
        (mode,) = await connection.execute_fetchall("PRAGMA journal_mode")
        assert (keys[0], mode[0]) == (1, "wal")
    await database.close()


async def test_closing_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    database = Database(tmp_path / "a.db", [m0001])
    await database.open()
    await database.close()
    await database.close()
    for thread in set(threading.enumerate()) - before:
        if not thread.name.startswith("asyncio_"):
            await asyncio.to_thread(thread.join, SECONDS)
            assert not thread.is_alive()


async def test_another_program_that_holds_the_file(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", [m0001])
    await database.open()
    async with database.transaction() as connection:
        await connection.execute("PRAGMA busy_timeout=1")
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable) as refused:
        await database.write("INSERT INTO things (text) VALUES ('x')")
    assert refused.value.key == "database_unavailable"
    other.execute("ROLLBACK")
    other.close()
    assert await database.write("INSERT INTO things (text) VALUES ('x')") == 1
    await database.close()


_FULL_DISK = """
import asyncio, sys
from pathlib import Path
from parachute.base.database import Database
from parachute.base.errors import Unavailable
from tests.base.migrations import m0001, m0002

async def main(folder):
    database = Database(folder / "a.db", [m0001])
    await database.open()
    stored = 0
    try:
        while stored < 10_000:
            await database.write("INSERT INTO things (text) VALUES (?)", ("x" * 4000,))
            stored += 1
    except Unavailable as error:
        print(error.key)
    else:
        raise SystemExit("the disk was not full")
    assert len(await database.rows("SELECT id FROM things")) == stored
    await database.close()
    # A copy does not fit either: then nothing is touched, and nothing half-written is left.
    try:
        await Database(folder / "a.db", [m0001, m0002]).open()
    except Unavailable as error:
        print(error.key)
    else:
        raise SystemExit("the copy fitted")
    assert not any((folder / "copies").iterdir())
    (folder / "ballast").unlink()
    await database.open()
    await database.write("INSERT INTO things (text) VALUES ('again')")
    assert len(await database.rows("SELECT id FROM things")) == stored + 1
    assert [row[0] for row in await database.rows("PRAGMA integrity_check")] == ["ok"]
    await database.close()

folder = Path(sys.argv[1])
(folder / "ballast").write_bytes(b"x" * 1_000_000)
asyncio.run(main(folder))
"""


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    # In a user namespace of its own where we are not root; the mount goes with its processes.
    script = f'mount -t tmpfs -o size=4m tmpfs {tmp_path} && exec {sys.executable} -c "$0" {tmp_path}'
    command = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount", "sh", "-c", script]
    if subprocess.run([*command[: command.index("sh")], "true"], capture_output=True).returncode:
        pytest.skip("this machine lets us make no mount of our own")
    result = subprocess.run([*command, _FULL_DISK], capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("disk_full") == 2, result.stdout


_WRITER = """
import asyncio, sys
from pathlib import Path
from parachute.base.database import Database
from tests.base.migrations import m0001

async def main(path):
    database = Database(path, [m0001])
    await database.open()
    number = 0
    while True:
        await database.write("INSERT INTO things (text) VALUES (?)", ("x" * 3000,))
        number += 1
        print(number, flush=True)

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_kill_in_the_middle_of_writing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    acknowledged = 0
    for _ in range(2):
        with subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(20):
                assert writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
            acknowledged += 20 + len([line for line in writer.stdout.read().split("\n")[:-1] if line])
        database = Database(path, [m0001])
        await database.open()
        assert [row[0] for row in await database.rows("PRAGMA integrity_check")] == ["ok"]
        (count,) = await database.rows("SELECT COUNT(*) FROM things")
        assert count[0] >= acknowledged
        acknowledged = count[0]
        await database.close()
