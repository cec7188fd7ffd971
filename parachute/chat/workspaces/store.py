"""Workspaces in `~/.parachute/trust.db`: what they allow must not be a file that an agent or a copied vault can bring."""

import json
import sqlite3
from typing import Any

from parachute.base.database import Database
from parachute.chat.workspaces.models import EVERY_HOST_ASKS, KINDS, Capabilities, Choice, Workspace, choice_of
from parachute.sandbox.egress.models import Network
from parachute.sandbox.engines.limits import Limits
from parachute.sandbox.git.models import Grant, Repository
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
        found = [_workspace(json.loads(document)) for (document,) in rows]
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
        row = (workspace.slug, json.dumps(workspace.as_json()), approved_by, workspace.updated_at)
        await self._database.write("INSERT OR REPLACE INTO workspaces VALUES (?, ?, ?, ?)", row)
        self._known[workspace.slug] = workspace

    async def delete(self, slug: str) -> None:
        """Remove a workspace."""
        await self._database.write("DELETE FROM workspaces WHERE slug = ?", (slug,))
        self._known.pop(slug, None)


def _workspace(document: dict[str, Any]) -> Workspace:
    choices: dict[str, Choice] = {kind: choice_of(document["capabilities"][kind]) for kind in KINDS}
    return Workspace(
        slug=document["slug"],
        name=document["name"],
        created_at=document["created_at"],
        updated_at=document["updated_at"],
        description=document["description"],
        default_trust_level=document["default_trust_level"],
        working_directory=document["working_directory"],
        model=document["model"],
        capabilities=Capabilities(**choices),
        limits=Limits(document["memory_megabytes"], document["cpus"], document["processes"]),
        network=_network(document.get("network")),
        git=tuple(Grant(Repository.parse(each["repository"]), each["access"]) for each in document.get("git", ())),
        apply=document.get("apply"),
        declared=document.get("declared", False),
    )


def _network(document: dict[str, Any] | None) -> Network:
    # Workspaces of earlier versions have none.
    return Network(document["mode"], tuple(document["hosts"])) if document else EVERY_HOST_ASKS
