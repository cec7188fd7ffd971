"""Transcriptions in SQLite: the queue, which outlives every process, and what came of the last ones."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from parachute.automation.transcription.models import Job, Segment, State, Transcription
from parachute.base.clock import now
from parachute.base.database import Database

_KEPT = 500
_OPEN = "state IN ('waiting', 'working', 'transcribed')"
_COLUMNS = (
    "id, path, entry, wanted_language, replaced, is_awaited, state, progress, attempts, due_at, error, result, "
    "created_at, updated_at"
)


def create_transcriptions(connection: sqlite3.Connection) -> None:
    """One row for each; a recording is in the queue once."""
    connection.execute(
        "CREATE TABLE transcriptions (id TEXT PRIMARY KEY, path TEXT NOT NULL, entry TEXT, wanted_language TEXT, replaced TEXT, "
        "is_awaited INTEGER NOT NULL, state TEXT NOT NULL, progress REAL, attempts INTEGER NOT NULL, due_at REAL NOT NULL, "
        "error TEXT, result TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL) STRICT"
    )
    connection.execute(f"CREATE UNIQUE INDEX open_transcriptions ON transcriptions (path) WHERE {_OPEN}")
    connection.execute("CREATE INDEX transcriptions_of_entry ON transcriptions (entry)")


ALL = (create_transcriptions,)


class TranscriptionStore:
    """Jobs by id; each method that writes is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, job: Job) -> bool:
        """Put a job into the queue; False, and nothing is changed, where its recording is there already."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(
                f"INSERT OR IGNORE INTO transcriptions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 0, 0, NULL, NULL, ?, ?)",  # noqa: S608 - our own names
                (
                    job.id,
                    job.path,
                    job.entry,
                    job.wanted_language,
                    job.replaced,
                    job.is_awaited,
                    State.WAITING,
                    now(),
                    now(),
                ),
            )
            if not cursor.rowcount:
                return False
            await connection.execute(
                f"DELETE FROM transcriptions WHERE NOT {_OPEN} AND id NOT IN "  # noqa: S608 - our own names
                "(SELECT id FROM transcriptions ORDER BY created_at DESC, id LIMIT ?)",
                (_KEPT,),
            )
        return True

    async def recover(self) -> None:
        """Put back into the queue what an earlier process was at."""
        await self._database.write(
            "UPDATE transcriptions SET state = 'waiting', progress = NULL WHERE state = 'working'"
        )

    async def get(self, identifier: str) -> Job | None:
        """One job."""
        row = await self._database.row(
            f"SELECT {_COLUMNS} FROM transcriptions WHERE id = ?",  # noqa: S608 - our own names
            (identifier,),
        )
        return _job(row) if row else None

    async def open_of(self, path: str) -> Job | None:
        """The job of a recording that is not over."""
        row = await self._database.row(
            f"SELECT {_COLUMNS} FROM transcriptions WHERE path = ? AND {_OPEN}",  # noqa: S608 - our own names
            (path,),
        )
        return _job(row) if row else None

    async def of_entry(self, entry: str, path: str) -> Job | None:
        """The newest job of an entry's recording."""
        row = await self._database.row(
            f"SELECT {_COLUMNS} FROM transcriptions WHERE entry = ? AND path = ? "  # noqa: S608 - our own names
            "ORDER BY created_at DESC, rowid DESC LIMIT 1",
            (entry, path),
        )
        return _job(row) if row else None

    async def newest(
        self, limit: int, entry: str | None = None, path: str | None = None, folder: str | None = None
    ) -> Sequence[Job]:
        """The newest jobs, those of an entry, of a recording or of all below a folder if one is given."""
        rows = await self._database.rows(
            f"SELECT {_COLUMNS} FROM transcriptions WHERE (?1 IS NULL OR entry = ?1) "  # noqa: S608 - our own names
            "AND (?2 IS NULL OR path = ?2) AND (?3 IS NULL OR substr(path, 1, length(?3)) = ?3) "
            "ORDER BY created_at DESC, rowid DESC LIMIT ?4",
            (entry, path, folder and folder.rstrip("/") + "/", limit),
        )
        return [_job(row) for row in rows]

    async def open_count(self) -> int:
        """The number of jobs that are not over."""
        row = await self._database.row(f"SELECT count(*) FROM transcriptions WHERE {_OPEN}")  # noqa: S608 - our own names
        return int(row[0]) if row else 0

    async def next(self, moment: float) -> Job | None:
        """The job whose turn it is: one that somebody waits for, or else the oldest that is due."""
        row = await self._database.row(
            f"SELECT {_COLUMNS} FROM transcriptions WHERE state IN ('waiting', 'transcribed') AND due_at <= ? "  # noqa: S608 - our own names
            "ORDER BY is_awaited DESC, created_at, rowid LIMIT 1",
            (moment,),
        )
        return _job(row) if row else None

    async def due(self) -> float | None:
        """Return the time at which the next job is due, None if there is none."""
        row = await self._database.row(
            "SELECT min(due_at) FROM transcriptions WHERE state IN ('waiting', 'transcribed')"
        )
        return row[0] if row else None

    async def update(self, identifier: str, **values: Any) -> bool:
        """Change an open job; False where it is over, as one that was cancelled is."""
        for name in ("error", "result"):
            if values.get(name) is not None:
                value = values[name]
                values[name] = json.dumps(to_builtins(value) if isinstance(value, Transcription) else value)
        values["updated_at"] = now()
        names = ", ".join(f"{name} = ?" for name in values)
        return bool(
            await self._database.write(
                f"UPDATE transcriptions SET {names} WHERE id = ? AND {_OPEN}",  # noqa: S608 - names of our own fields
                (*values.values(), identifier),
            )
        )


def _job(row: sqlite3.Row | tuple[Any, ...]) -> Job:
    fields = dict(zip(_COLUMNS.split(", "), row, strict=True))
    fields["state"] = State(fields["state"])
    fields["is_awaited"] = bool(fields["is_awaited"])
    for name in ("error", "result"):
        fields[name] = json.loads(fields[name]) if fields[name] else None
    if found := fields["result"]:
        segments = tuple(Segment(**each) for each in found.pop("segments"))
        fields["result"] = Transcription(**found, segments=segments)
    return Job(**fields)
