"""A private SQLite database, used by one thread at a time and never by the event loop."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from parachute.core import ParachuteError, Unavailable, disk_error, is_passing, remove_database
from parachute.core.full_text import searchable

Result = TypeVar("Result")

_BUSY_SECONDS = 10


class Database:
    """`schema` is run at each opening, and may call `searchable`.

    A file that is no database is removed when `disposable`, since it can be made again.
    """

    def __init__(self, path: Path, schema: str, *, disposable: bool = False) -> None:
        self._path = path
        self._schema = schema
        self._disposable = disposable
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()
        self._waiting: list[tuple[Callable[[sqlite3.Connection], Any], asyncio.Future[Any]]] = []
        self._working: asyncio.Task[None] | None = None

    async def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Do something in one transaction, in a thread; error: Unavailable."""
        return await asyncio.to_thread(self.work, work)

    async def run_together(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """The same, in one transaction with all others that come at the same time: they wait for the disk once.

        Errors: ParachuteError of the work, which undoes its own changes only; Unavailable.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, future))
        if self._working is None:
            self._working = asyncio.ensure_future(self._work_together())
        return await future

    def work(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """The same in the thread that calls; error: Unavailable."""
        with self._lock:
            try:
                connection = self._connection or self._open()
                with connection:
                    return work(connection)
            except sqlite3.Error as error:
                known = disk_error(error, self._path)
                raise known or Unavailable(
                    f"The database {self._path.name} cannot be used: {error}.", key="database_unusable"
                ) from error

    async def _work_together(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    results = await self.run(partial(_each, [work for work, _ in batch]))
                except Exception as error:
                    results = [error] * len(batch)
                for (_, future), result in zip(batch, results, strict=True):
                    if future.done():
                        continue
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            self._working = None

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        try:
            return self._opened()
        except sqlite3.DatabaseError as error:
            if not self._disposable or is_passing(error):
                raise
            remove_database(self._path)
            return self._opened()

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            self._path.chmod(0o600)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'NORMAL' if self._disposable else 'FULL'}")
            connection.create_function("searchable", 1, searchable, deterministic=True)
            # Half of what SQLite would take as the file grows: the system keeps what is read often.
            connection.execute("PRAGMA cache_size = -1000")
            connection.executescript(self._schema)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection


def _each(works: Sequence[Callable[[sqlite3.Connection], Any]], connection: sqlite3.Connection) -> list[Any]:
    """The result of each work, or its error, after which nothing of it remains."""
    connection.execute("BEGIN")
    results: list[Any] = []
    for work in works:
        connection.execute("SAVEPOINT each")
        try:
            results.append(work(connection))
        except ParachuteError as error:
            connection.execute("ROLLBACK TO each")
            results.append(error)
        connection.execute("RELEASE each")
    return results
