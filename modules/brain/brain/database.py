"""The index's database: a cache of the files that may be thrown away at any time."""

import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from parachute.core import Unavailable, disk_error, is_passing, remove_database
from parachute.core.meaning import Queue

FORM = 6
"""The number of the tables' form; an index of another one is built anew."""

_BUSY_SECONDS = 10
_READERS = 3
_TABLES = """
CREATE TABLE files (
    path TEXT PRIMARY KEY, modified INTEGER NOT NULL, size INTEGER NOT NULL, problem TEXT, claimed TEXT
) WITHOUT ROWID;
CREATE INDEX files_problem ON files (path) WHERE problem IS NOT NULL;
CREATE INDEX files_claimed ON files (claimed) WHERE claimed != '';
CREATE TABLE entities (
    id INTEGER PRIMARY KEY, para_id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
    written TEXT NOT NULL, folder TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL, summary TEXT NOT NULL, data TEXT NOT NULL
);
CREATE INDEX entities_name ON entities (name COLLATE NOCASE, id);
CREATE INDEX entities_type ON entities (type, name COLLATE NOCASE, id);
CREATE INDEX entities_written ON entities (written, folder, type);
CREATE TABLE names (
    id INTEGER PRIMARY KEY, entity INTEGER NOT NULL, kind INTEGER NOT NULL, key TEXT NOT NULL, first TEXT NOT NULL,
    words INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE INDEX names_key ON names (key, kind, entity);
CREATE INDEX names_first ON names (first, words);
CREATE INDEX names_entity ON names (entity);
CREATE TABLE trigrams (
    gram TEXT NOT NULL, letters INTEGER NOT NULL, name INTEGER NOT NULL, PRIMARY KEY (gram, letters, name)
) WITHOUT ROWID;
CREATE TABLE links (
    source INTEGER NOT NULL, key TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL, note TEXT NOT NULL
);
CREATE INDEX links_source ON links (source);
CREATE INDEX links_key ON links (key, source);
CREATE TABLE mentions (
    source_id TEXT NOT NULL, para_id TEXT NOT NULL, at TEXT NOT NULL, path TEXT NOT NULL,
    PRIMARY KEY (source_id, para_id)
) WITHOUT ROWID;
CREATE INDEX mentions_of ON mentions (para_id, at);
CREATE INDEX mentions_path ON mentions (path);
CREATE VIRTUAL TABLE texts USING fts5 (
    name, aliases, tags, body, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3 4'
);
INSERT INTO texts (texts, rank) VALUES ('rank', 'bm25(10.0, 8.0, 4.0, 1.0)');
INSERT INTO texts (texts, rank) VALUES ('automerge', 8);
"""

LACKING = Queue(
    "entities",
    "para_id",
    "SELECT para_id, entities.name || '. ' || texts.aliases || '. ' || texts.tags || char(10) || texts.body"
    " FROM entities JOIN texts ON texts.rowid = entities.id WHERE para_id = :key",
)
"""Entities that the index of meanings lacks."""


class Database:
    """One writer at a time, and readers that do not wait for it; every method may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._readers = threading.Semaphore(_READERS)
        self.changed: Callable[[], None] | None = None
        """Called after each change, in the thread that made it."""

    def open(self, anew: bool = False) -> bool:
        """Open it or make it, and answer whether it was made anew: one that is damaged or of an older form is thrown away.

        Error: Unavailable while the disk is full, say: then it stays as it is.
        """
        with self._lock, _said():
            try:
                if not anew and self._prepare():
                    return False
            except sqlite3.DatabaseError as error:
                if is_passing(error):
                    self._close()
                    raise
                # Damaged; the files say everything that it said.
            self._close()
            remove_database(self._path)
            self._prepare()
            assert self._writer is not None
            with self._writer:
                self._writer.executescript(f"BEGIN; {_TABLES} {LACKING.schema} PRAGMA user_version = {FORM}; COMMIT;")
            return True

    def _prepare(self) -> bool:
        """Connect, and answer whether the tables have the right form."""
        self._writer = self._connect()
        self._path.chmod(0o600)
        self._writer.execute("PRAGMA journal_mode = WAL")
        self._writer.execute("PRAGMA synchronous = NORMAL")
        return bool(self._writer.execute("PRAGMA user_version").fetchone()[0] == FORM)

    def close(self) -> None:
        """Close everything; error: none."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        # A reader that is at work gives its connection back to the former queue.
        idle, self._idle = self._idle, queue.LifoQueue()
        _close_all(idle)
        if self._writer is not None:
            with suppress(sqlite3.Error):
                self._writer.execute("PRAGMA optimize")
            self._writer.close()
            self._writer = None

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection for reading."""
        with self._readers:
            idle = self._idle
            try:
                connection = idle.get_nowait()
            except queue.Empty:
                connection = self._connect()
                connection.execute("PRAGMA query_only = ON")
            try:
                with _said():
                    yield connection
            except BaseException:
                connection.close()
                raise
            idle.put(connection)
            if idle is not self._idle:  # closed meanwhile: one that stays would keep the locks of a file that is gone
                _close_all(idle)

    @contextmanager
    def write(self, *, quietly: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection within a transaction, which is undone after an error; `quietly` without a call of `changed`."""
        with self._lock:
            if self._writer is None:
                raise Unavailable("The index of Brain is closed.", key="index_closed")
            with _said(), self._writer:
                self._writer.execute("BEGIN IMMEDIATE")
                yield self._writer
        if self.changed is not None and not quietly:
            self.changed()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, check_same_thread=False, isolation_level=None, cached_statements=64
        )
        connection.row_factory = sqlite3.Row
        return connection


def _close_all(idle: queue.LifoQueue[sqlite3.Connection]) -> None:
    with suppress(queue.Empty):
        while True:
            idle.get_nowait().close()


@contextmanager
def _said() -> Iterator[None]:
    """Turn SQLite's errors of a damaged file or a full disk into ours."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.DatabaseError as error:
        raise disk_error(error, Path("the index of Brain")) or Unavailable(
            f"The index of Brain cannot be used: {error}.",
            "POST /api/brain/reload rebuilds it from your files.",
            key="index_unusable",
        ) from error
