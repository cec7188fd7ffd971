"""Workspaces in this process, on real files."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.base.database import Database
from parachute.base.errors import InvalidInput
from parachute.chat.sessions import migrations
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.trust_store import TrustStore
from parachute.chat.workspaces.models import Workspace
from parachute.chat.workspaces.request import Changes, NewWorkspace
from parachute.chat.workspaces.service import Workspaces
from parachute.chat.workspaces.store import WorkspaceStore, create_workspaces
from tests.chat.sessions.conftest import SessionStorage
from tests.chat.sessions.no_meanings import NoMeanings


class WorkspaceStorage(SessionStorage):
    """Sessions and workspaces of one vault; `open` another one over the same folders to see what a restart makes of it."""

    def __init__(self, vault: Path, home: Path) -> None:
        super().__init__(vault, home)
        self.trust_database = Database(home / "trust.db", (*migrations.TRUST, create_workspaces))
        self.trust = TrustStore(self.trust_database)
        self.rows = WorkspaceStore(self.trust_database)
        events = self.service._events
        self.service = Sessions(
            self.vault,
            self.store,
            self.trust,
            self.transcripts,
            events,
            NoMeanings(),
            self.endings.closed.set,
            self.rows,
        )
        self.workspaces = Workspaces(
            self.vault, self.rows, self.service, self.check_directory, presets={"python": ["index.example.org"]}
        )
        self.copies = self.vault.state / "workspaces"

    async def open(self) -> "WorkspaceStorage":
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
async def storage(tmp_path: Path) -> AsyncIterator[WorkspaceStorage]:
    """No workspaces yet."""
    made = await WorkspaceStorage(tmp_path / "vault", tmp_path / "home").open()
    yield made
    await made.close()


@pytest.fixture
async def reopened(storage: WorkspaceStorage, tmp_path: Path) -> AsyncIterator[Any]:
    """Open the same folders again, or the same vault with another home."""
    made: list[WorkspaceStorage] = []

    async def again(home: str = "home") -> WorkspaceStorage:
        made.append(await WorkspaceStorage(tmp_path / "vault", tmp_path / home).open())
        return made[-1]

    yield again
    for each in made:
        await each.close()
