"""Workspaces in `~/.parachute/trust.db`: what they allow must not be a file that an agent or a copied vault can bring."""

import sqlite3

import msgspec

from parachute.base.database import Database
from parachute.chat.workspaces.models import Workspace
from parachute.security.trust_levels import TrustLevel


def create_workspaces(connection: sqlite3.Connection) -> None:
    """One row for each workspace, with who approved what it says."""
    connection.execute(
        "CREATE TABLE workspaces (slug TEXT PRIMARY KEY, document TEXT NOT NULL, approved_by TEXT NOT NULL, "
        "approved_at TEXT NOT NULL) STRICT, WITHOUT ROWID"
    )


class WorkspaceStore:
    """All workspaces, held in memory: only the server writes them, and every turn of a chat asks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, Workspace] = {}

    async def load(self) -> None:
        """Read them from the disk."""
        rows = await self._database.rows("SELECT document FROM workspaces")
        found = [msgspec.json.decode(document, type=Workspace) for (document,) in rows]
        self._known = {workspace.slug: workspace for workspace in found}

    def all(self) -> list[Workspace]:
        """Every workspace, by name."""
        return sorted(self._known.values(), key=lambda workspace: (workspace.name.casefold(), workspace.slug))

    def get(self, slug: str) -> Workspace | None:
        """One workspace, or None."""
        return self._known.get(slug)

    def floor(self, slug: str) -> TrustLevel | None:
        """The level that no session in a workspace is less shut in than; None if there is no such workspace."""
        found = self._known.get(slug)
        return found.default_trust_level if found else None

    async def put(self, workspace: Workspace, approved_by: str) -> None:
        """Add or replace a workspace."""
        row = (workspace.slug, msgspec.json.encode(workspace).decode(), approved_by, workspace.updated_at)
        await self._database.write("INSERT OR REPLACE INTO workspaces VALUES (?, ?, ?, ?)", row)
        self._known[workspace.slug] = workspace

    async def delete(self, slug: str) -> None:
        """Remove a workspace."""
        await self._database.write("DELETE FROM workspaces WHERE slug = ?", (slug,))
        self._known.pop(slug, None)
