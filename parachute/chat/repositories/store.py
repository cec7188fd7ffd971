"""Decisions about repositories in `~/.parachute/trust.db`, where no agent and no copied vault brings any."""

import sqlite3
from collections.abc import Sequence

from parachute.base.database import Database
from parachute.chat.repositories.models import Choice, Decision
from parachute.sandbox.git.models import Access, Repository


def create_repository_decisions(connection: sqlite3.Connection) -> None:
    """One row for each access to a repository of a workspace."""
    connection.execute(
        "CREATE TABLE repository_decisions (workspace TEXT NOT NULL, repository TEXT NOT NULL, access TEXT NOT NULL, "
        "choice TEXT NOT NULL, decided_by TEXT NOT NULL, decided_at TEXT NOT NULL, "
        "PRIMARY KEY (workspace, repository, access)) STRICT, WITHOUT ROWID"
    )


class RepositoryDecisions:
    """All decisions, held in memory: only the server writes them, and every request of git asks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[str, Repository, Access], Decision] = {}

    async def load(self) -> None:
        """Read them from the disk."""
        rows = await self._database.rows(
            "SELECT workspace, repository, access, choice, decided_by, decided_at FROM repository_decisions"
        )
        for workspace, repository, *rest in rows:
            self._keep(Decision(workspace, Repository.parse(repository), *rest))

    def all(self) -> Sequence[Decision]:
        """Return every decision, by workspace and repository."""
        return [self._known[key] for key in sorted(self._known)]

    def of(self, workspace: str, since: str, repository: Repository, access: Access) -> Choice | None:
        """Return what was decided; nothing, if that was about an earlier workspace of the name, made before `since`."""
        found = self._known.get((workspace, repository, access))
        return found.choice if found and found.decided_at >= since else None

    async def put(self, decision: Decision) -> None:
        """Add or replace a decision."""
        row = (str(decision.repository), decision.access, decision.choice, decision.decided_by, decision.decided_at)
        statement = "INSERT OR REPLACE INTO repository_decisions VALUES (?, ?, ?, ?, ?, ?)"
        await self._database.write(statement, (decision.workspace, *row))
        self._keep(decision)

    async def remove(self, workspace: str, repository: Repository) -> bool:
        """Forget the decisions about a repository; False if there was none."""
        statement = "DELETE FROM repository_decisions WHERE workspace = ? AND repository = ?"
        await self._database.write(statement, (workspace, str(repository)))
        found = [key for key in self._known if key[:2] == (workspace, repository)]
        for key in found:
            del self._known[key]
        return bool(found)

    def _keep(self, decision: Decision) -> None:
        self._known[decision.workspace, decision.repository, decision.access] = decision
