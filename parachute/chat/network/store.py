"""Decisions about hosts in `~/.parachute/trust.db`, where no agent and no copied vault brings any."""

import sqlite3
from collections.abc import Sequence

from parachute.base.database import Database
from parachute.chat.network.models import Choice, DecidedHost


def create_host_decisions(connection: sqlite3.Connection) -> None:
    """One row for each host of a workspace."""
    connection.execute(
        "CREATE TABLE host_decisions (workspace TEXT NOT NULL, host TEXT NOT NULL, choice TEXT NOT NULL, "
        "decided_by TEXT NOT NULL, decided_at TEXT NOT NULL, PRIMARY KEY (workspace, host)) STRICT, WITHOUT ROWID"
    )


class HostDecisions:
    """All decisions, held in memory: only the server writes them, and every refused request asks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[str, str], DecidedHost] = {}

    async def load(self) -> None:
        """Read them from the disk."""
        rows = await self._database.rows("SELECT workspace, host, choice, decided_by, decided_at FROM host_decisions")
        self._known = {(row[0], row[1]): DecidedHost(row[0] or None, *row[1:]) for row in rows}

    def all(self) -> Sequence[DecidedHost]:
        """Return every decision, by workspace and host."""
        return [self._known[key] for key in sorted(self._known)]

    def of(self, workspace: str, since: str) -> dict[str, Choice]:
        """Return the choice for each host of a workspace; `since` leaves out those of an earlier one of the same name."""
        found = sorted(self._known.items())
        return {host: each.choice for (slug, host), each in found if slug == workspace and each.decided_at >= since}

    async def put(self, decision: DecidedHost) -> None:
        """Add or replace a decision."""
        workspace = decision.workspace or ""
        row = (workspace, decision.host, decision.choice, decision.decided_by, decision.decided_at)
        await self._database.write("INSERT OR REPLACE INTO host_decisions VALUES (?, ?, ?, ?, ?)", row)
        self._known[workspace, decision.host] = decision

    async def remove(self, workspace: str, host: str) -> bool:
        """Forget a decision; False if there was none."""
        await self._database.write("DELETE FROM host_decisions WHERE workspace = ? AND host = ?", (workspace, host))
        return self._known.pop((workspace, host), None) is not None
