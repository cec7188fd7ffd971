"""Decisions about repositories in `~/.parachute/trust.db`, where no agent and no copied vault brings any."""

import sqlite3
from collections.abc import Sequence

from parachute.base.database import Database
from parachute.chat.repositories.models import Choice, DecidedRepository
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
        self._known: dict[tuple[str, Repository, Access], DecidedRepository] = {}

    async def load(self) -> None:
        """Read them from the disk."""
        rows = await self._database.rows(
            "SELECT workspace, repository, access, choice, decided_by, decided_at FROM repository_decisions"
        )
        for workspace, repository, *rest in rows:
            self._keep(DecidedRepository(workspace or None, str(Repository.parse(repository)), *rest))

    def all(self) -> Sequence[DecidedRepository]:
        """Return every decision, by workspace and repository."""
        return [self._known[key] for key in sorted(self._known)]

    def of(self, workspace: str, since: str, repository: Repository, access: Access) -> Choice | None:
        """Return what was decided; nothing, if that was about an earlier workspace of the name, made before `since`."""
        found = self._known.get((workspace, repository, access))
        return found.choice if found and found.decided_at >= since else None

    async def put(self, decision: DecidedRepository) -> None:
        """Add or replace a decision."""
        row = (decision.repository, decision.access, decision.choice, decision.decided_by, decision.decided_at)
        statement = "INSERT OR REPLACE INTO repository_decisions VALUES (?, ?, ?, ?, ?, ?)"
        await self._database.write(statement, (decision.workspace or "", *row))
        self._keep(decision)

    async def remove(self, workspace: str, repository: Repository) -> bool:
        """Forget the decisions about a repository; False if there was none."""
        statement = "DELETE FROM repository_decisions WHERE workspace = ? AND repository = ?"
        await self._database.write(statement, (workspace, str(repository)))
        found = [key for key in self._known if key[:2] == (workspace, repository)]
        for key in found:
            del self._known[key]
        return bool(found)

    def _keep(self, decision: DecidedRepository) -> None:
        key = (decision.workspace or "", Repository.parse(decision.repository), decision.access)
        self._known[key] = decision
