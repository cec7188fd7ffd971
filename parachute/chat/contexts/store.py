"""The places that were chosen for sessions, in the sessions' database: they go with the vault, and give no right."""

from collections.abc import Sequence

from parachute.base.clock import now
from parachute.base.database import Database


class SelectionStore:
    """All selections."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, session: str) -> list[str]:
        """The places of a session, in their order."""
        query = "SELECT folder_path FROM session_contexts WHERE session_id = ? ORDER BY position"
        return [place for (place,) in await self._database.rows(query, (session,))]

    async def replace(self, session: str, places: Sequence[str]) -> bool:
        """Choose these places and no others; False if there is no such session."""
        moment = now()
        async with self._database.transaction() as connection:
            if not await connection.execute_fetchall("SELECT 1 FROM sessions WHERE id = ?", (session,)):
                return False
            rows = await connection.execute_fetchall(
                "SELECT folder_path, added_at FROM session_contexts WHERE session_id = ?", (session,)
            )
            kept = dict[str, str](tuple(row) for row in rows)
            await connection.execute("DELETE FROM session_contexts WHERE session_id = ?", (session,))
            await connection.executemany(
                "INSERT INTO session_contexts VALUES (?, ?, ?, ?)",
                [(session, place, number, kept.get(place, moment)) for number, place in enumerate(places)],
            )
        return True
