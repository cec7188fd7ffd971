"""Contexts of a vault in this process, on real files and databases."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from parachute.base.database import Database
from parachute.changes import store as change_store
from parachute.changes.models import NOTHING, Entry, State
from parachute.changes.service import Changes
from parachute.chat.contexts.models import Chain
from parachute.chat.contexts.service import Contexts
from parachute.chat.contexts.store import SelectionStore
from parachute.chat.contexts.texts import text_of
from parachute.chat.sessions import migrations
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.store import SessionStore
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.config.vault.service import Vault


class World:
    """A vault, and what is known of contexts in it."""

    def __init__(self, folder: Path) -> None:
        self.vault = Vault(folder / "vault")
        self.vault.prepare()
        self.root = self.vault.root
        self.approved = set[tuple[str, str]]()
        self.databases = (
            Database(self.vault.state / "sessions.db", migrations.ALL),
            Database(folder / "changes.db", change_store.ALL),
        )
        self.sessions = SessionStore(self.databases[0])
        self.changes = Changes(ChangesSettings(), folder / "changes", self.databases[1], lambda: None)
        self.contexts = Contexts(
            self.vault,
            SelectionStore(self.databases[0]),
            self.changes.instructions,
            lambda name, text: (name, text) in self.approved,
        )

    def write(self, path: str, text: str) -> Path:
        """A file in the vault."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    async def add_session(self, identifier: str = "s") -> None:
        """Store a session."""
        await self.sessions.insert(Session(id=identifier, created_at="2026-01-01T00:00:00.000Z", updated_at="x"))

    async def run_wrote(self, project: str, path: str, digest: str) -> None:
        """Note that a run has written a file, as the applying of its view does."""
        store = self.changes.places.store
        number = await store.begin("s", self.root.resolve() / project, "run", 0)
        await store.start([Entry(number, path, NOTHING, State("file", 0o644, digest, 1))])
        await store.finish(number, [path], ())
        await store.end(number)


async def text_and_chain(world: World, *selected: str, directory: Path | None = None) -> tuple[str, Chain]:
    """The text of a chain, and the chain."""
    chain = await world.contexts.chain(selected, directory)
    return text_of(chain), chain


def shown(chain: Chain) -> Sequence[tuple[str, str]]:
    """The files of a chain, each with its level."""
    return [(file.path, file.level) for file in chain.files]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A vault without anything in it."""
    made = World(tmp_path)
    for database in made.databases:
        await database.open()
    await made.changes.start()
    yield made
    for database in made.databases:
        await database.close()
