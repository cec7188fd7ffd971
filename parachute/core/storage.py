"""The module's own store of JSON values by key."""

import asyncio
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parachute.base.disk_errors import disk_error
from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import locked as file_lock
from parachute.core.values import encode

if TYPE_CHECKING:
    import sqlite3

LONGEST_KEY = 500
LARGEST_VALUE = 8 * 1024 * 1024
_BUSY_SECONDS = 10


class Storage:
    """Keys are text, values whatever JSON can say; every change is on disk when its call returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    @property
    def folder(self) -> Path:
        """The module's private folder, in which the database lies."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._path.parent

    async def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        rows = await self._run("SELECT value FROM entries WHERE key = ?", (_key(key),))
        return json.loads(rows[0][0]) if rows else default

    async def set(self, key: str, value: Any) -> None:
        """Store a value; errors: InvalidInput when it is too large, ModuleError when JSON cannot say it."""
        text = encode(value).decode()
        if len(text) > LARGEST_VALUE:
            raise InvalidInput(
                f"value: at most {LARGEST_VALUE:,} characters of JSON are allowed.",
                "Write a file instead.",
                key="value_too_large",
            )
        await self._run(
            "INSERT INTO entries (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (_key(key), text),
        )

    async def delete(self, key: str) -> bool:
        """Remove a key; whether it was there."""
        return bool(await self._run("DELETE FROM entries WHERE key = ? RETURNING key", (_key(key),)))

    async def keys(self, prefix: str = "") -> list[str]:
        """All keys that begin with a prefix, in order."""
        rows = await self._run(
            "SELECT key FROM entries WHERE substr(key, 1, ?) = ? ORDER BY key", (len(prefix), prefix)
        )
        return [row[0] for row in rows]

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    async def _run(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        return await asyncio.to_thread(self._execute, statement, values)

    def _execute(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        import sqlite3  # only by those who store something: most of a process's start is imports

        with self._lock:
            try:
                connection = self._connection or self._open()
                with connection:
                    return connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                known = disk_error(error, self._path)
                raise known or Unavailable(
                    f"The storage {self._path.name} cannot be used: {error}.", key="storage_unusable"
                ) from error

    def _open(self) -> "sqlite3.Connection":
        import sqlite3

        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Every thread of the pool may use it, one at a time under the lock.
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            self._path.chmod(0o600)
            # Two processes that change the mode of a new database at once are not made to wait by the timeout.
            with file_lock(self._path):
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
            )
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection


def _key(key: str) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY:
        raise InvalidInput(f"key: 1 to {LONGEST_KEY} characters of text are allowed.", key="storage_key_invalid")
    return key
