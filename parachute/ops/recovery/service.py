"""Recovery: databases open in whatever condition their files are, and what could not be made anew is copied."""

import asyncio
import contextlib
import logging
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from parachute.base.clock import SYSTEM, Clock, now
from parachute.base.database import Database, suspicion
from parachute.base.disk_errors import disk_error, is_damage
from parachute.base.errors import Unavailable
from parachute.base.known_files import KnownFiles
from parachute.ops.recovery.copies import copy_if_due, newest_copy, put_in_place
from parachute.ops.recovery.inspection import condition_of
from parachute.ops.recovery.notices import Notice, Notices

log = logging.getLogger(__name__)

_COPIED = ("sessions.db", "suggestions.db", "trust.db", "messengers.db")
"""Databases with something in them that nothing else has."""

_RECENT_ONLY = ("trust.db", "messengers.db")
"""An old copy would give rights back that were taken away since."""

_COPY_SECONDS = 60 * 60.0
_SIDE_FILES = ("-wal", "-shm", "-journal")


class Recovery:
    """Open every database, whatever became of its file, and keep a copy of what nothing else has."""

    def __init__(self, root: Path, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self.notices = Notices(root)
        self._known = KnownFiles(root)
        self._databases: list[Path] = []
        self._copying: asyncio.Task[None] | None = None

    async def open(self, databases: Sequence[Database]) -> set[str]:
        """Open all of them; the names of those that are new, or were replaced. Error: Unavailable."""
        replaced = set()
        for database in databases:
            if await asyncio.to_thread(self.recover, database.path):
                replaced.add(database.path.name)
            try:
                await database.open()
            except Unavailable as error:
                if not is_damage(error.__cause__):
                    raise
                await asyncio.to_thread(self.recover, database.path, is_damaged=True)
                replaced.add(database.path.name)
                await database.open()
            if database.path.name in _COPIED:
                self._databases.append(database.path)
        with contextlib.suppress(OSError):  # a disk without room; the next start remembers them
            await asyncio.to_thread(self._known.add, [database.path for database in databases])
        return replaced

    def recover(self, path: Path, *, is_damaged: bool = False) -> bool:
        """Put a database aside that cannot be used, and its newest copy in its place; whether there is another one now.

        Waits for the disk. With `is_damaged` it is known to be, and not inspected. Error: Unavailable where that cannot be written.
        """
        condition = "damaged" if is_damaged else condition_of(path)
        if condition == "whole":
            with contextlib.suppress(OSError):
                suspicion(path).unlink(missing_ok=True)
            return False
        is_lost = condition == "damaged" or path in self._known
        try:
            aside = _put_aside(path, condition)
            is_copied = is_lost and path.name in _COPIED
            copy = newest_copy(path, daily_only=path.name in _RECENT_ONLY) if is_copied else None
            if copy:
                put_in_place(copy, path)
            suspicion(path).unlink(missing_ok=True)
        except (OSError, sqlite3.Error) as error:
            if known := disk_error(error, path):
                raise known from error
            raise Unavailable(
                f"The database {path} cannot be used, and nothing can be put in its place: {error}.",
                "`parachute doctor disk-space disk-writable` looks for the cause.",
                key="database_unavailable",
            ) from error
        if is_lost:
            copied_at = _copied_at(copy) if copy else None
            self._add_notice(
                Notice(
                    now(), str(path), condition, str(aside) if aside else None, str(copy) if copy else None, copied_at
                )
            )
        return True

    def start(self) -> None:
        """Copy what has changed, once a day."""
        self._copying = asyncio.create_task(self._copy_daily(), name="copies of databases")

    async def close(self) -> None:
        """Copy for the last time what is small or due; call it after the databases were closed."""
        if self._copying:
            self._copying.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._copying
        await self._copy(closing_now=True)

    def say_another(self, mark: Path) -> None:
        """Say that the vault is another one than before, of which this is the name."""
        self._add_notice(Notice(now(), str(mark), "whole"))

    def watch_keys(self, path: Path, *, are_gone: bool) -> None:
        """Remember that there is a file of keys, or say that it is gone."""
        if are_gone and not any(notice.file == str(path) for notice in self.notices.read()):
            self._add_notice(Notice(now(), str(path), "gone"))
        elif path.exists():
            with contextlib.suppress(OSError):
                self._known.add([path])

    async def _copy_daily(self) -> None:
        while True:
            await self._clock.sleep(_COPY_SECONDS)
            await self._copy()

    async def _copy(self, *, closing_now: bool = False) -> None:
        for path in self._databases:
            try:
                await asyncio.to_thread(copy_if_due, path, closing_now=closing_now)
            except (OSError, sqlite3.Error) as error:
                log.warning("The database %s was not copied: %s", path, error)

    def _add_notice(self, notice: Notice) -> None:
        log.error("%s", notice.sentence)
        try:
            self.notices.add(notice)
        except OSError as error:
            log.error("This is written nowhere but here: %s", error)


def _put_aside(path: Path, condition: str) -> Path | None:
    """Rename a database file and its side files, which would be read as the new one's; return its name, None if it held nothing."""
    aside = path.with_name(f"{path.name}.{condition}-{now()[:19].replace(':', '.')}")
    for ending in _SIDE_FILES:
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    if condition == "gone":
        return None
    if path.is_file() and not path.stat().st_size:
        path.unlink()
        return None
    path.rename(aside)
    return aside


def _copied_at(copy: Path) -> str:
    return f"{datetime.fromtimestamp(copy.stat().st_mtime, UTC):%Y-%m-%d %H:%M} UTC"
