"""Databases whose schema needs no trust: a restored one is opened without."""

import sqlite3
from contextlib import closing
from pathlib import Path

from parachute.ops.recovery import inspection
from tests.support.making import Make
from tests.support.server import Server


def test_every_database_of_a_computer_is_whole_without_trust_in_its_schema(
    make_server: Make[Server], tmp_path: Path
) -> None:
    server = make_server()
    found = [path for root in (server.home.root, server.vault) for path in root.rglob("*.db")]
    assert {"sessions.db", "trust.db", "runs.db"} <= {path.name for path in found}
    for number, path in enumerate(found):
        copy = tmp_path / f"{number}.db"
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        assert inspection.problem(copy) is None, path
