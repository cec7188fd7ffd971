"""The index of meanings as a file."""

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from parachute.llm.meaning.store import Store


@contextmanager
def no_room() -> Iterator[None]:
    """Let this process write no file, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_it_stays_while_the_disk_is_full(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with closing(Store.open(path)) as store:
        before = store.index("notes")
    with no_room(), pytest.raises(sqlite3.DatabaseError):
        Store.open(path)
    with closing(Store.open(path)) as store:
        assert store.index("notes") == before


@pytest.mark.parametrize("damage", [b"", b"not a database" * 1000])
def test_a_damaged_one_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(damage)
    with closing(Store.open(path)) as store:
        assert store.connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
