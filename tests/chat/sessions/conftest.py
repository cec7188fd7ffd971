"""Sessions in this process, on real files."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.audit.service import Audit
from parachute.database import Database
from parachute.events.service import Events
from parachute.sessions import migrations
from parachute.sessions.models import Session
from parachute.sessions.service import Sessions
from parachute.sessions.store import SessionStore
from parachute.sessions.transcripts import Transcripts
from parachute.sessions.trust_store import TrustStore
from parachute.vault.service import Vault


class Shelf:
    """The sessions of one vault and one home; `open` it again to see what a restart makes of it."""

    def __init__(self, vault: Path, home: Path) -> None:
        self.vault = Vault(vault)
        self.vault.prepare()
        home.mkdir(exist_ok=True)
        self.database = Database(self.vault.state / "sessions.db", migrations.ALL)
        self.trust_database = Database(home / "trust.db", migrations.TRUST)
        self.claude = home.parent / "claude"
        self.transcripts = Transcripts(self.vault, self.claude)
        self.trust = TrustStore(self.trust_database)
        self.store = SessionStore(self.database)
        self.audit = Audit(home / "audit")
        self.service = Sessions(self.vault, self.store, self.trust, self.transcripts, Events(self.audit))

    async def open(self) -> "Shelf":
        """Open the databases and settle what is in them."""
        await self.database.open()
        await self.trust_database.open()
        await self.service.start()
        return self

    async def close(self) -> None:
        """Close the databases."""
        await self.database.close()
        await self.trust_database.close()
        await self.audit.close()

    async def add(self, identifier: str, title: str = "A chat", **columns: Any) -> Session:
        """Store one session; a direct one counts as approved."""
        moment = columns.pop("at", "2026-01-01T00:00:00.000Z")
        session = Session(id=identifier, created_at=moment, updated_at=moment, title=title, **columns)
        return await self.service.create(session, approved_by="test")

    def write_transcript(self, session: str, content: bytes) -> Path:
        """Write a session's transcript as its sandbox would."""
        folder = self.transcripts.folder(session)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session}.jsonl"
        path.write_bytes(content)
        return path


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    """An empty shelf."""
    made = await Shelf(tmp_path / "vault", tmp_path / "home").open()
    yield made
    await made.close()
