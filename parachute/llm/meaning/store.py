"""The index's database: texts, and the vectors of their parts under the model that they are of."""

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from msgspec import Struct

from parachute.base.disk_errors import is_passing
from parachute.base.errors import Unavailable
from parachute.base.files import remove_database

FORM = 3
"""Number of the tables' form: one of another form is made anew from the texts of those that gave them."""

_TABLES = """
CREATE TABLE known (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE texts (
    number INTEGER PRIMARY KEY, collection TEXT NOT NULL, key TEXT NOT NULL, hash BLOB NOT NULL, text TEXT NOT NULL,
    UNIQUE (collection, key)
);
CREATE TABLE models (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, dimension INTEGER NOT NULL, ready INTEGER NOT NULL);
CREATE TABLE vectors (
    model INTEGER NOT NULL, text INTEGER NOT NULL, part INTEGER NOT NULL, vector BLOB NOT NULL, usual REAL NOT NULL, spread REAL NOT NULL,
    PRIMARY KEY (model, text, part)
) WITHOUT ROWID;
CREATE TABLE waiting (model INTEGER NOT NULL, text INTEGER NOT NULL, PRIMARY KEY (model, text)) WITHOUT ROWID;
CREATE TRIGGER texts_deleted AFTER DELETE ON texts BEGIN
    DELETE FROM vectors WHERE model IN (SELECT id FROM models) AND text = old.number;
    DELETE FROM waiting WHERE model IN (SELECT id FROM models) AND text = old.number;
END;
"""


class Model(Struct, frozen=True):
    """A model as the index knows it; a server's has the dimension 0 until it has given something. `ready`: it has every text."""

    id: int
    name: str
    dimension: int
    ready: bool


class Vector(Struct, frozen=True):
    """The direction of a part in bytes, how near any question is to it, and by how much that differs from one to another."""

    numbers: bytes
    usual: float = 0.0
    spread: float = 1.0


class Store:
    """One connection, for one thread at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open it or make it; one that is damaged, or of another form, is made anew, and gets another name.

        Error: sqlite3.DatabaseError while the disk is full, say: then it stays as it is.
        """
        store = None
        try:
            store = cls(_connected(path))
            if store.connection.execute("PRAGMA user_version").fetchone()[0] == FORM:
                return store
        except sqlite3.DatabaseError as error:
            if is_passing(error):
                if store is not None:
                    store.close()
                raise
        if store is not None:
            store.close()
        remove_database(path)
        store = cls(_connected(path))
        path.chmod(0o600)
        with store.connection as connection:
            connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version = {FORM};")
        return store

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def index(self, collection: str) -> str:
        """The name of a collection here: where its texts are gone it has another one, so that who gave them gives them again."""
        query = "SELECT value FROM known WHERE name = ?"
        found = self.connection.execute(query, (collection,)).fetchone()
        if found is None:
            values = (collection, secrets.token_hex(8))
            self.connection.execute("INSERT OR IGNORE INTO known (name, value) VALUES (?, ?)", values)
            found = self.connection.execute(query, (collection,)).fetchone()
        return str(found[0])

    def put(self, collection: str, texts: Mapping[str, str], gone: Iterable[str]) -> int:
        """Take texts over, and forget others; the number of those that are new or not the same."""
        changed = 0
        with self.connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            for key in gone:
                connection.execute("DELETE FROM texts WHERE collection = ? AND key = ?", (collection, key))
            for key, text in texts.items():
                digest = hashlib.sha256(text.encode()).digest()
                known = connection.execute(
                    "SELECT number, hash FROM texts WHERE collection = ? AND key = ?", (collection, key)
                ).fetchone()
                if known and known[1] == digest:
                    continue
                changed += 1
                number = known and known[0]
                if known:
                    connection.execute("UPDATE texts SET hash = ?, text = ? WHERE number = ?", (digest, text, number))
                else:
                    values = (collection, key, digest, text)
                    number = connection.execute(
                        "INSERT INTO texts (collection, key, hash, text) VALUES (?, ?, ?, ?)", values
                    ).lastrowid
                connection.execute("INSERT OR IGNORE INTO waiting SELECT id, ? FROM models", (number,))
        return changed

    def keep(self, collections: Sequence[str]) -> None:
        """Forget every other collection: that of a module that is gone."""
        with self.connection as connection:
            for table, column in (("texts", "collection"), ("known", "name")):
                connection.execute(
                    f"DELETE FROM {table} WHERE {column} NOT IN (SELECT value FROM json_each(?))",  # noqa: S608 - our own words
                    (json.dumps(list(collections)),),
                )

    def models(self) -> list[Model]:
        """The models that vectors are of, the oldest first."""
        rows = self.connection.execute("SELECT id, name, dimension, ready FROM models ORDER BY id").fetchall()
        return [Model(row[0], row[1], row[2], bool(row[3])) for row in rows]

    def begin(self, name: str, dimension: int) -> Model:
        """The model of this name; by a new one all texts are to be read, and what an unfinished other one had is dropped."""
        for model in self.models():
            if model.name == name:
                return model
        with self.connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            _drop(connection, "ready = 0")
            values = (name, dimension)
            id_ = connection.execute("INSERT INTO models (name, dimension, ready) VALUES (?, ?, 0)", values).lastrowid
            connection.execute("INSERT INTO waiting SELECT ?, number FROM texts", (id_,))
        return Model(id_ or 0, name, dimension, False)

    def waiting(self, model: Model, limit: int) -> list[tuple[int, str, bytes]]:
        """Texts that the model has to read, with their hashes, what came last first."""
        query = (
            "SELECT texts.number, texts.text, texts.hash FROM waiting JOIN texts ON texts.number = waiting.text "
            "WHERE waiting.model = ? ORDER BY waiting.text DESC LIMIT ?"
        )
        return [(row[0], row[1], row[2]) for row in self.connection.execute(query, (model.id, limit))]

    def text(self, collection: str, key: str, most: int = -1) -> str:
        """A text as it was given, or so many letters of it; empty where it is gone."""
        query = "SELECT iif(?1 < 0, text, substr(text, 1, ?1)) FROM texts WHERE collection = ?2 AND key = ?3"
        found = self.connection.execute(query, (most, collection, key)).fetchone()
        return str(found[0]) if found else ""

    def count(self, model: Model | None) -> tuple[int, int]:
        """Count the texts that wait for the model, and all texts."""
        (total,) = self.connection.execute("SELECT count(*) FROM texts").fetchone()
        if model is None:
            return total, total
        (waiting,) = self.connection.execute("SELECT count(*) FROM waiting WHERE model = ?", (model.id,)).fetchone()
        return waiting, total

    def lacks(self, model: Model | None) -> bool:
        """True if the model has not every text."""
        if model is None:
            return bool(self.connection.execute("SELECT 1 FROM texts LIMIT 1").fetchone())
        query = "SELECT 1 FROM waiting WHERE model = ? LIMIT 1"
        return not model.ready or bool(self.connection.execute(query, (model.id,)).fetchone())

    def write_vectors(self, model: Model, dimension: int, texts: Mapping[int, tuple[bytes, Sequence[Vector]]]) -> None:
        """Write the vectors of texts, by the hash of what they are of: what has changed meanwhile goes on waiting."""
        with self.connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            if dimension:
                connection.execute("UPDATE models SET dimension = ? WHERE id = ?", (dimension, model.id))
            for text, (digest, own) in texts.items():
                found = connection.execute("SELECT hash FROM texts WHERE number = ?", (text,)).fetchone()
                if found is None or found[0] != digest:
                    continue
                connection.execute("DELETE FROM vectors WHERE model = ? AND text = ?", (model.id, text))
                connection.executemany(
                    "INSERT INTO vectors (model, text, part, vector, usual, spread) VALUES (?, ?, ?, ?, ?, ?)",
                    [(model.id, text, part, each.numbers, each.usual, each.spread) for part, each in enumerate(own)],
                )
                connection.execute("DELETE FROM waiting WHERE model = ? AND text = ?", (model.id, text))
            _settle(connection, model)

    def vectors(
        self, model: Model, collection: str, at_once: int
    ) -> Iterator[list[tuple[str, int, bytes, float, float]]]:
        """The vectors of a collection with the keys of their texts and the numbers of their parts, so many at a time."""
        query = (
            "SELECT texts.key, vectors.part, vectors.vector, vectors.usual, vectors.spread FROM texts JOIN vectors ON vectors.model = ? AND vectors.text = texts.number "
            "WHERE texts.collection = ?"
        )
        cursor = self.connection.execute(query, (model.id, collection))
        while rows := cursor.fetchmany(at_once):
            yield rows

    def vector_count(self, model: Model, collection: str) -> int:
        """Count the vectors of a collection."""
        query = (
            "SELECT count(*) FROM texts JOIN vectors ON vectors.model = ? AND vectors.text = texts.number "
            "WHERE texts.collection = ?"
        )
        return int(self.connection.execute(query, (model.id, collection)).fetchone()[0])


def _settle(connection: sqlite3.Connection, model: Model) -> None:
    """Let a model that has every text be the one in use."""
    if not connection.execute("SELECT 1 FROM waiting WHERE model = ? LIMIT 1", (model.id,)).fetchone():
        connection.execute("UPDATE models SET ready = 1 WHERE id = ?", (model.id,))
        _drop(connection, f"id < {model.id:d}")


def _drop(connection: sqlite3.Connection, which: str) -> None:
    for table in ("waiting", "vectors"):
        connection.execute(f"DELETE FROM {table} WHERE model IN (SELECT id FROM models WHERE {which})")  # noqa: S608 - our own words
    connection.execute(f"DELETE FROM models WHERE {which}")  # noqa: S608


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        # Half of what SQLite would take of memory: all of the index is read once, and then only written.
        connection.execute("PRAGMA cache_size = -1000")
    except BaseException:
        connection.close()
        raise
    return connection


def disk_problem(error: sqlite3.Error) -> Unavailable:
    """The error of a database that cannot be written or read."""
    return Unavailable(
        f"The index of meanings cannot be used: {error}.",
        "Make room on the disk; it goes on by itself.",
        key="index_unusable",
    )
