"""Changes of runs, and changes that wait, in `~/.parachute/changes.db`."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from parachute.base.clock import now
from parachute.base.database import Database
from parachute.changes.contents import m0004_contents
from parachute.changes.instructions import m0002_instructions, m0005_told
from parachute.changes.lineage import m0003_lineage
from parachute.changes.models import ChangeSet, Counts, Entry, Held, SetKind, State
from parachute.security.origin import Origin


def m0001_changes(connection: sqlite3.Connection) -> None:
    """Sets of changes, the paths that each has written, and those that wait."""
    connection.execute(
        "CREATE TABLE sets (id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, project TEXT NOT NULL, "
        "kind TEXT NOT NULL, began_at TEXT NOT NULL, began_ns INTEGER NOT NULL, ended_at TEXT, "
        "reviewed INTEGER NOT NULL, undone INTEGER, note TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE INDEX sets_by_session ON sets (session, id)")
    of_set = "number INTEGER NOT NULL REFERENCES sets (id) ON DELETE CASCADE, path TEXT NOT NULL"
    states = "before TEXT NOT NULL, after TEXT NOT NULL, added INTEGER, removed INTEGER"
    connection.execute(
        f"CREATE TABLE entries ({of_set}, state TEXT NOT NULL, replaced TEXT, {states}, "
        "PRIMARY KEY (number, path)) STRICT, WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX unfinished_entries ON entries (number) WHERE state = 'applying'")
    connection.execute(
        f"CREATE TABLE held ({of_set}, root TEXT NOT NULL, reason TEXT NOT NULL, thrown INTEGER NOT NULL, {states}, "
        "PRIMARY KEY (number, path)) STRICT, WITHOUT ROWID"
    )


ALL = (m0001_changes, m0002_instructions, m0003_lineage, m0004_contents, m0005_told)

_SET = "id, session, project, kind, began_at, began_ns, ended_at, reviewed, undone, note, origin"
_ENTRY = "number, path, state, replaced, before, after, added, removed"
_HELD = "number, path, root, reason, thrown, before, after, added, removed"
_NO_LONGER_HELD = (
    "DELETE FROM held WHERE path = ? AND NOT thrown "
    "AND number IN (SELECT id FROM sets WHERE session = (SELECT session FROM sets WHERE id = ?))"
)
_OF_SESSION = "number IN (SELECT id FROM sets WHERE session = ?)"


class ChangeStore:
    """All sets of changes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(
        self,
        session: str,
        project: Path,
        kind: SetKind,
        began_ns: int,
        *,
        is_reviewed: bool = False,
        undone: int | None = None,
        note: str = "",
    ) -> int:
        """A new set's number."""
        async with self._database.transaction() as connection:
            cursor = await connection.execute(
                "INSERT INTO sets (session, project, kind, began_at, began_ns, reviewed, undone, note) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (session, str(project), kind, now(), began_ns, is_reviewed, undone, note),
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    async def end(self, number: int) -> None:
        """A set is complete; one in which nothing is goes."""
        async with self._database.transaction() as connection:
            await connection.execute("UPDATE sets SET ended_at = ? WHERE id = ? AND ended_at IS NULL", (now(), number))
            await connection.execute(
                "DELETE FROM sets WHERE id = ?1 AND kind != 'run' AND NOT EXISTS (SELECT 1 FROM entries WHERE number = ?1) "
                "AND NOT EXISTS (SELECT 1 FROM held WHERE number = ?1)",
                (number,),
            )

    async def set_origin(self, number: int, origin: Origin) -> None:
        """Note the lowest origin of what had entered a run when it wrote."""
        await self._database.write(
            "UPDATE sets SET origin = ?1 WHERE id = ?2 AND origin IS NOT ?1", (origin.value, number)
        )

    async def note(self, number: int, text: str) -> None:
        """Note what a set does not cover."""
        await self._database.write("UPDATE sets SET note = ? WHERE id = ?", (text, number))

    async def get(self, number: int) -> ChangeSet | None:
        """One set."""
        rows = await self._database.rows(f"SELECT {_SET} FROM sets WHERE id = ?", (number,))  # noqa: S608 - our own names
        return _set(rows[0]) if rows else None

    async def of_session(self, session: str, most: int = 200) -> Sequence[ChangeSet]:
        """The newest sets of a session, the newest first."""
        query = f"SELECT {_SET} FROM sets WHERE session = ? ORDER BY id DESC LIMIT ?"  # noqa: S608
        return [_set(row) for row in await self._database.rows(query, (session, most))]

    async def start(self, entries: Sequence[Entry]) -> None:
        """Note what is about to be written; what waited at these paths waits no more."""
        rows = [
            (
                each.number,
                each.path,
                each.replaced and each.replaced.stored(),
                each.before.stored(),
                each.after.stored(),
                each.added,
                each.removed,
            )
            for each in entries
        ]
        async with self._database.transaction() as connection:
            await connection.executemany(_NO_LONGER_HELD, [(each.path, each.number) for each in entries])
            await connection.executemany(
                f"INSERT INTO entries ({_ENTRY}) VALUES (?, ?, 'applying', ?, ?, ?, ?, ?) "  # noqa: S608
                "ON CONFLICT DO UPDATE SET state = 'applying', replaced = excluded.replaced, after = excluded.after, "
                "added = excluded.added, removed = excluded.removed, "
                "before = iif(state = 'undone', excluded.before, before)",
                rows,
            )

    async def finish(self, number: int, written: Iterable[str], left: Iterable[str]) -> None:
        """Finish the noted changes: those left are as before this step. Entries that are as before the run are removed."""
        done, undone = [(number, path) for path in written], [(number, path) for path in left]
        at = "WHERE number = ? AND path = ?"
        async with self._database.transaction() as connection:
            await connection.executemany(f"UPDATE entries SET state = 'applied', replaced = NULL {at}", done)  # noqa: S608
            await connection.executemany(
                "UPDATE entries SET state = 'applied', after = replaced, replaced = NULL "  # noqa: S608
                f"{at} AND state = 'applying'",
                undone,
            )
            equal = (f"json_extract(before, '$[{place}]') = json_extract(after, '$[{place}]')" for place in range(3))
            await connection.executemany(
                f"DELETE FROM entries {at} AND state = 'applied' AND {' AND '.join(equal)}",  # noqa: S608
                done + undone,
            )

    async def unfinished(self) -> Sequence[Entry]:
        """Return the changes whose writing the death of the server cut off."""
        query = f"SELECT {_ENTRY} FROM entries WHERE state = 'applying'"  # noqa: S608
        return [_entry(row) for row in await self._database.rows(query)]

    async def entries(self, number: int, *, state: str | None = None, most: int = -1) -> Sequence[Entry]:
        """The paths of a set, by name; the first ones with `most`."""
        query = f"SELECT {_ENTRY} FROM entries WHERE number = ?1 AND (?2 IS NULL OR state = ?2) ORDER BY path LIMIT ?3"  # noqa: S608
        return [_entry(row) for row in await self._database.rows(query, (number, state, most))]

    async def counts(self, number: int) -> Counts:
        """The numbers of what a set has written."""
        query = "SELECT count(*), count(*) FILTER (WHERE state = 'undone'), total(added), total(removed) FROM entries WHERE number = ?"
        ((total, undone, added, removed),) = await self._database.rows(query, (number,))
        return Counts(total, undone, int(added), int(removed))

    async def latest(self, session: str, project: Path) -> dict[str, State]:
        """Return the last state that a session has written at each path of a project."""
        query = (
            "SELECT path, after FROM entries JOIN sets ON sets.id = number WHERE session = ? AND project = ? "
            "AND kind = 'run' ORDER BY number"
        )
        return {path: State.read(after) for path, after in await self._database.rows(query, (session, str(project)))}

    async def mark(self, number: int, paths: Iterable[str], state: str) -> None:
        """Paths of a set are undone, or applied again."""
        async with self._database.transaction() as connection:
            await connection.executemany(
                "UPDATE entries SET state = ? WHERE number = ? AND path = ?", [(state, number, path) for path in paths]
            )

    async def hold(self, held: Sequence[Held]) -> None:
        """Keep these waiting; what waited at these paths before waits no more."""
        rows = [
            (
                each.number,
                each.path,
                each.root,
                each.reason,
                each.before.stored(),
                each.after.stored(),
                each.added,
                each.removed,
            )
            for each in held
        ]
        async with self._database.transaction() as connection:
            await connection.executemany(_NO_LONGER_HELD, [(each.path, each.number) for each in held])
            await connection.executemany(
                f"INSERT OR REPLACE INTO held ({_HELD}) VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?)",  # noqa: S608
                rows,
            )

    async def held(self, session: str | None = None, number: int | None = None) -> Sequence[Held]:
        """Return the changes that wait, of all sessions or one, or of one set, and those thrown away."""
        query = (
            f"SELECT {_HELD} FROM held WHERE (?1 IS NULL OR number IN (SELECT id FROM sets WHERE session = ?1)) "  # noqa: S608
            "AND (?2 IS NULL OR number = ?2) ORDER BY number, path"
        )
        return [_held(row) for row in await self._database.rows(query, (session, number))]

    async def throw_away(self, number: int, paths: Iterable[str]) -> None:
        """Mark paths as thrown away: they do not wait, and are known until the view is without them."""
        async with self._database.transaction() as connection:
            await connection.executemany(
                "UPDATE held SET thrown = 1 WHERE number = ? AND path = ?", [(number, path) for path in paths]
            )

    async def unhold(self, session: str, paths: Iterable[str], *, thrown: bool) -> None:
        """Forget what waited, or what was thrown away."""
        async with self._database.transaction() as connection:
            await connection.executemany(
                f"DELETE FROM held WHERE path = ? AND thrown = ? AND {_OF_SESSION}",  # noqa: S608
                [(path, thrown, session) for path in paths],
            )

    async def drop_held(self, number: int, path: str) -> None:
        """Forget one that waited, since it is done."""
        await self._database.write("DELETE FROM held WHERE number = ? AND path = ?", (number, path))

    async def forget_session(self, session: str) -> None:
        """Remove all that a session changed from the list."""
        await self._database.write("DELETE FROM sets WHERE session = ?", (session,))

    async def ended_sets(self) -> Sequence[tuple[int, str]]:
        """Numbers and times of the sets that are complete and of which nothing waits, the oldest first."""
        query = (
            "SELECT id, ended_at FROM sets WHERE ended_at IS NOT NULL "
            "AND NOT EXISTS (SELECT 1 FROM held WHERE number = id AND NOT thrown) ORDER BY id"
        )
        return [(number, ended) for number, ended in await self._database.rows(query)]

    async def hashes(self) -> dict[int, set[str]]:
        """The contents that each set names."""
        found: dict[int, set[str]] = {}
        columns = (
            ("entries", "before"),
            ("entries", "after"),
            ("entries", "replaced"),
            ("held", "before"),
            ("held", "after"),
        )
        for table, column in columns:
            query = f"SELECT number, json_extract({column}, '$[2]') FROM {table} WHERE {column} IS NOT NULL"  # noqa: S608
            for number, digest in await self._database.rows(query):
                found.setdefault(number, set()).add(digest)
        return found

    async def remove(self, numbers: Iterable[int]) -> None:
        """Forget whole sets."""
        async with self._database.transaction() as connection:
            await connection.executemany("DELETE FROM sets WHERE id = ?", [(number,) for number in numbers])


def _set(row: sqlite3.Row) -> ChangeSet:
    number, session, project, kind, began_at, began_ns, ended_at, reviewed, undone, note, origin = row
    origin = Origin(origin) if origin else None
    return ChangeSet(number, session, project, kind, began_at, began_ns, ended_at, bool(reviewed), undone, note, origin)


def _entry(row: sqlite3.Row) -> Entry:
    number, path, state, replaced, before, after, added, removed = row
    replaced = State.read(replaced) if replaced else None
    return Entry(number, path, State.read(before), State.read(after), state, replaced, added, removed)


def _held(row: sqlite3.Row) -> Held:
    number, path, root, reason, thrown, before, after, added, removed = row
    return Held(number, path, root, reason, State.read(before), State.read(after), bool(thrown), added, removed)
