"""Databases that somebody writes while they are backed up."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from parachute.ops.backup import proof
from parachute.ops.backup.models import Progress
from parachute.ops.recovery.inspection import problem

from .installation import Installation, Meanwhile

pytestmark = pytest.mark.long

_WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("CREATE TABLE money (account TEXT, amount INTEGER)")
number = 0
while True:
    number += 1
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO money VALUES ('from', ?)", (-number,))
    connection.execute("INSERT INTO money VALUES ('to', ?)", (number,))
    connection.execute("COMMIT")
    print(number, flush=True)
"""


_KILLED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
connection.executemany("INSERT INTO notes (text) VALUES (?)", [("committed",)] * 2000)
connection.commit()
connection.execute("PRAGMA cache_size=2")
connection.execute("UPDATE notes SET text = 'half done, and longer than before'")
os.kill(os.getpid(), 9)
"""


@contextmanager
def writing(path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A program that moves money in transactions, and says each on a line; it is killed with the block."""
    command = [sys.executable, "-c", _WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def read_until(process: "subprocess.Popen[str]", number: int) -> int:
    """Read what the writer says until it has come so far; its pipe is full most of the time."""
    assert process.stdout is not None
    while (said := int(process.stdout.readline())) < number:
        pass
    return said


def test_a_database_is_copied_whole_between_two_transactions_with_what_its_log_holds(
    installation: Installation,
) -> None:
    path = installation.vault / ".parachute" / "runs.db"
    with writing(path) as process:
        seen = read_until(process, 200)
        during = Meanwhile(on_part=lambda: read_until(process, seen + 2000))
        made = installation.create(during)
        assert made.is_complete
        assert Path(f"{path}-wal").stat().st_size > 0
        result = proof.drill(installation.places, installation.repository, Progress())
        assert result.databases == 1
    # The writer was killed, as in a power cut: what it has committed lies in the log alone.
    assert installation.create().is_complete
    backups = installation.backups()
    for name, backup in zip(("first", "second"), backups, strict=True):
        assert backup.whole
        installation.restic("restore", backup.whole.id, "--target", str(installation.folder / name))
        # The live file is not in it.
        (copy,) = (installation.folder / name).rglob("runs.db*")
        assert copy.parts[-5:-1] == ("backup", "staging", "vault", ".parachute")
        connection = sqlite3.connect(copy)
        count, total = connection.execute("SELECT count(*), sum(amount) FROM money").fetchone()
        connection.close()
        assert (count % 2, total) == (0, 0)
        assert count >= 2 * seen
        seen = count // 2
    live = sqlite3.connect(path)
    assert live.execute("SELECT count(*) FROM money").fetchone() == (count,)
    live.close()


def test_what_a_killed_program_had_half_done_is_not_what_comes_back(installation: Installation) -> None:
    path = installation.vault / ".parachute" / "notes.db"
    subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert path.with_name("notes.db-journal").stat().st_size > 0
    made = installation.create()
    assert made.reports["vault"].damaged == []
    assert made.is_complete
    installation.restore()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("SELECT DISTINCT text, count(*) FROM notes").fetchall() == [("committed", 2000)]
    connection.close()


def test_a_broken_database_is_found_and_looking_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t (x TEXT)")
    connection.execute("CREATE INDEX i ON t (x)")
    connection.executemany("INSERT INTO t VALUES (?)", [(f"{number:0100}",) for number in range(1000)])
    connection.commit()
    connection.close()
    assert problem(path) is None
    assert list(tmp_path.iterdir()) == [path]
    data = bytearray(path.read_bytes())
    data[40_000:44_000] = bytes(4000)
    path.write_bytes(data)
    assert problem(path)
    path.write_text("no database")
    assert problem(path) == "file is not a database"
