"""Sessions in this process, on real files."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest

from parachute.base.database import Database
from parachute.chat.sessions import migrations
from parachute.chat.sessions.endings import Endings
from parachute.chat.sessions.indexed_words import index
from parachute.chat.sessions.messages import Message
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.store import _INSERT, SessionStore, _row
from parachute.chat.sessions.transcripts import Transcripts
from parachute.chat.sessions.trust_store import TrustStore
from parachute.config.vault.service import Vault
from parachute.events.bus.service import Events
from parachute.security.audit.service import Audit
from tests.chat.sessions.no_meanings import NoMeanings


class SessionStorage:
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
        self.endings = Endings(self.database)
        events, closed = Events(self.audit), self.endings.closed.set
        self.service = Sessions(self.vault, self.store, self.trust, self.transcripts, events, NoMeanings(), closed)

    async def open(self) -> "SessionStorage":
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

    async def add_many(self, sessions: Iterable[Session]) -> None:
        """Store many sessions in one transaction, as they would be after one each."""
        async with self.database.transaction() as connection:
            for session in sessions:
                await connection.execute(_INSERT, _row(session))
                await index(connection, session.id, [("title", session.title or "")])

    def write_transcript(self, session: str, content: bytes) -> Path:
        """Write a session's transcript as its sandbox would."""
        folder = self.transcripts.folder(session)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session}.jsonl"
        path.write_bytes(content)
        return path


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[SessionStorage]:
    """No sessions yet."""
    made = await SessionStorage(tmp_path / "vault", tmp_path / "home").open()
    yield made
    await made.close()


def text_of(message: Message) -> str:
    """The text with which a message begins."""
    (first, *_) = message["content"]
    assert first["type"] == "text"
    return first["text"]
