"""Workspaces in this process, on real files."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.database import Database
from parachute.errors import InvalidInput
from parachute.sessions import migrations
from parachute.sessions.service import Sessions
from parachute.sessions.trust_store import TrustStore
from parachute.workspaces.models import Workspace
from parachute.workspaces.request import Changes, NewWorkspace
from parachute.workspaces.service import Workspaces
from parachute.workspaces.store import WorkspaceStore, create_workspaces
from tests.sessions.conftest import Shelf


class Office(Shelf):
    """A shelf with workspaces; `open` another one over the same folders to see what a restart makes of it."""

    def __init__(self, vault: Path, home: Path) -> None:
        super().__init__(vault, home)
        self.trust_database = Database(home / "trust.db", (*migrations.TRUST, create_workspaces))
        self.trust = TrustStore(self.trust_database)
        self.rows = WorkspaceStore(self.trust_database)
        events = self.service._events
        self.service = Sessions(self.vault, self.store, self.trust, self.transcripts, events, self.rows)
        self.workspaces = Workspaces(self.vault, self.rows, self.service, self.check_directory)
        self.copies = self.vault.state / "workspaces"

    async def open(self) -> "Office":
        """Open the databases and settle what is in them."""
        await self.database.open()
        await self.trust_database.open()
        await self.rows.load()
        await self.service.start()
        await self.workspaces.start()
        return self

    async def create(self, name: str = "Garden", **fields: Any) -> Workspace:
        """A new workspace."""
        return await self.workspaces.create(NewWorkspace(name=name, **fields), "owner")

    async def update(self, slug: str, **fields: Any) -> Workspace:
        """Change a workspace as its owner."""
        return await self.workspaces.update(slug, Changes(**fields), "owner", as_owner=True)

    def check_directory(self, path: Path) -> Path:
        """Folders of the vault may be worked in, as the sandbox has it."""
        real = path.resolve()
        if not real.is_relative_to(self.vault.root.resolve()) or real.is_relative_to(self.vault.state):
            raise InvalidInput(f"workingDirectory: {path} is not in the vault.")
        return real


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    """An office without workspaces."""
    made = await Office(tmp_path / "vault", tmp_path / "home").open()
    yield made
    await made.close()


@pytest.fixture
async def reopened(office: Office, tmp_path: Path) -> AsyncIterator[Any]:
    """Open the same folders again, or the same vault with another home."""
    made: list[Office] = []

    async def again(home: str = "home") -> Office:
        made.append(await Office(tmp_path / "vault", tmp_path / home).open())
        return made[-1]

    yield again
    for each in made:
        await each.close()
