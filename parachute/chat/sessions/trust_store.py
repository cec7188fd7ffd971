"""Approvals of sessions, in `~/.parachute/trust.db`."""

import json
from collections.abc import Collection, Mapping

from parachute.base.clock import now
from parachute.base.database import Database
from parachute.chat.sessions.models import Owner, SessionPlace
from parachute.security.origin import Origin, lowest


class TrustStore:
    """Approvals of the owner; a session without a row is sandboxed and has no grants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def direct_sessions(self) -> set[str]:
        """Ids of all sessions that may run directly."""
        rows = await self._database.rows("SELECT session FROM session_trust WHERE level = 'direct'")
        return {session for (session,) in rows}

    async def is_direct(self, session: str) -> bool:
        """Return True if a session may run directly."""
        query = "SELECT 1 FROM session_trust WHERE session = ? AND level = 'direct'"
        return await self._database.row(query, (session,)) is not None

    async def set_level(self, session: str, level: str, approved_by: str) -> None:
        """Record an approval."""
        await self._database.write(
            "INSERT OR REPLACE INTO session_trust VALUES (?, ?, ?, ?)", (session, level, now(), approved_by)
        )

    async def grants(self, session: str) -> list[str]:
        """Patterns that were granted to a session."""
        rows = await self._database.rows("SELECT pattern FROM session_grants WHERE session = ?", (session,))
        return [pattern for (pattern,) in rows]

    async def add_grant(self, session: str, pattern: str) -> None:
        """Grant a pattern to a session, until it is deleted."""
        await self._database.write("INSERT OR IGNORE INTO session_grants VALUES (?, ?, ?)", (session, pattern, now()))

    async def owner(self, session: str) -> Owner | None:
        """The module that made a session; None for one of a person, and for one from another machine."""
        row = await self._database.row("SELECT module, agent FROM session_owners WHERE session = ?", (session,))
        return Owner(row[0], row[1]) if row else None

    async def set_owner(self, session: str, owner: Owner) -> None:
        """Record which module makes a session; error: sqlite3.IntegrityError if the id has an owner."""
        await self._database.write(
            "INSERT INTO session_owners VALUES (?, ?, ?, ?)", (session, owner.module, owner.agent, now())
        )

    async def workspace(self, session: str) -> str | None:
        """The workspace that a session was put into on this machine; None if it was put into none."""
        row = await self._database.row("SELECT workspace FROM session_workspaces WHERE session = ?", (session,))
        return str(row[0]) if row else None

    async def set_workspace(self, session: str, workspace: str | None) -> None:
        """Record which workspace a session belongs to, or that it belongs to none."""
        if workspace is None:
            await self._database.write("DELETE FROM session_workspaces WHERE session = ?", (session,))
        else:
            await self._database.write("INSERT OR REPLACE INTO session_workspaces VALUES (?, ?)", (session, workspace))

    async def workspaces(self) -> set[str]:
        """Every workspace that a session belongs to, deleted ones as well."""
        return {slug for (slug,) in await self._database.rows("SELECT DISTINCT workspace FROM session_workspaces")}

    async def direct_members(self, workspace: str) -> set[str]:
        """Ids of the sessions of a workspace that may run directly."""
        query = (
            "SELECT session FROM session_workspaces JOIN session_trust USING (session) "
            "WHERE workspace = ? AND level = 'direct'"
        )
        return {session for (session,) in await self._database.rows(query, (workspace,))}

    async def place(self, session: str) -> SessionPlace | None:
        """The place at which a session was begun; None for one that was not begun on this machine."""
        row = await self._database.row("SELECT folder, outside FROM session_places WHERE session = ?", (session,))
        return SessionPlace(row[0], row[1]) if row else None

    async def set_place(self, session: str, place: SessionPlace) -> None:
        """Record where a session is begun."""
        await self._database.write(
            "INSERT OR REPLACE INTO session_places VALUES (?, ?, ?)", (session, place.folder, place.outside)
        )

    async def adopt_places(self, places: Mapping[str, tuple[SessionPlace, str | None]]) -> None:
        """Record once what rows said before this was kept, with the workspace, of sessions that were begun on this machine."""
        async with self._database.transaction() as connection:
            async with connection.execute("SELECT 1 FROM session_places LIMIT 1") as cursor:
                if await cursor.fetchone() is not None:
                    return
            async with connection.execute("SELECT session FROM session_origins") as cursor:
                known = {str(session) for (session,) in await cursor.fetchall()}
            found = {session: found for session, found in places.items() if session in known}
            await connection.executemany(
                "INSERT INTO session_places VALUES (?, ?, ?)",
                # The first one is none: it says that this was done.
                [("", None, None), *((session, each.folder, each.outside) for session, (each, _) in found.items())],
            )
            await connection.executemany(
                "INSERT OR IGNORE INTO session_workspaces VALUES (?, ?)",
                [
                    (session, workspace)
                    for session, (each, workspace) in found.items()
                    if workspace is not None and each.outside is None
                ],
            )

    async def permissions(self, session: str) -> str | None:
        """Return the permissions left to a session, as text; None if nothing was taken from it on this machine."""
        row = await self._database.row("SELECT permissions FROM session_permissions WHERE session = ?", (session,))
        return str(row[0]) if row else None

    async def set_permissions(self, session: str, permissions: str | None, approved_by: str) -> None:
        """Record what is left to a session, or that nothing is taken from it any more."""
        if permissions is None:
            await self._database.write("DELETE FROM session_permissions WHERE session = ?", (session,))
        else:
            await self._database.write(
                "INSERT OR REPLACE INTO session_permissions VALUES (?, ?, ?, ?)",
                (session, permissions, now(), approved_by),
            )

    async def origin(self, session: str) -> Origin | None:
        """The lowest origin of what a session has read; None for one that did not begin on this machine, or before this was kept."""
        row = await self._database.row("SELECT origin FROM session_origins WHERE session = ?", (session,))
        return Origin(row[0]) if row else None

    async def origins(self, sessions: Collection[str]) -> dict[str, Origin]:
        """The origins of those of some sessions that began on this machine."""
        query = "SELECT session, origin FROM session_origins WHERE session IN (SELECT value FROM json_each(?))"
        rows = await self._database.rows(query, (json.dumps(sorted(sessions)),))
        return {str(session): Origin(word) for session, word in rows}

    async def set_origin(self, session: str, origin: Origin) -> None:
        """Record the origin of a new session, unless a lower one is known."""
        await self._database.write("INSERT OR IGNORE INTO session_origins VALUES (?, ?)", (session, origin.value))

    async def lower_origin(self, session: str, origin: Origin, otherwise: Origin) -> Origin:
        """Lower the origin of a session, that is `otherwise` so far where none is known, and return what it is now."""
        async with self._database.transaction() as connection:
            query = "SELECT origin FROM session_origins WHERE session = ?"
            async with connection.execute(query, (session,)) as cursor:
                row = await cursor.fetchone()
            now_lowest = lowest(Origin(row[0]) if row else otherwise, origin)
            await connection.execute(
                "INSERT OR REPLACE INTO session_origins VALUES (?, ?)", (session, now_lowest.value)
            )
        return now_lowest

    async def inherit(self, session: str, heir: str) -> None:
        """Give a session that is about to begin what another one has: what is left to it, and its grants."""
        async with self._database.transaction() as connection:
            for table, columns in (
                ("session_permissions", "permissions, set_at, set_by"),
                ("session_grants", "pattern, granted_at"),
            ):
                await connection.execute(
                    f"INSERT INTO {table} SELECT ?, {columns} FROM {table} WHERE session = ?",  # noqa: S608 - from above
                    (heir, session),
                )

    async def forget(self, session: str) -> None:
        """Remove everything about a session."""
        async with self._database.transaction() as connection:
            await connection.execute("DELETE FROM session_trust WHERE session = ?", (session,))
            await connection.execute("DELETE FROM session_grants WHERE session = ?", (session,))
            await connection.execute("DELETE FROM session_owners WHERE session = ?", (session,))
            await connection.execute("DELETE FROM session_workspaces WHERE session = ?", (session,))
            await connection.execute("DELETE FROM session_permissions WHERE session = ?", (session,))
            await connection.execute("DELETE FROM session_origins WHERE session = ?", (session,))
            await connection.execute("DELETE FROM session_places WHERE session = ?", (session,))
