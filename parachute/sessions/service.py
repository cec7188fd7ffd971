"""Sessions: what may be done with them."""

import asyncio
import json
import secrets
import shutil
import sqlite3
from collections import OrderedDict
from pathlib import Path
from typing import Any

from parachute.clock import now
from parachute.errors import Conflict, InvalidInput, NotAllowed, NotFound
from parachute.events.service import SESSION_START, Events
from parachute.sessions import transcripts
from parachute.sessions.models import Session
from parachute.sessions.store import SessionStore
from parachute.sessions.transcripts import Transcripts
from parachute.sessions.trust import TrustLevel, normalize_trust_level
from parachute.sessions.trust_store import TrustStore
from parachute.vault.service import Vault

_CACHED_LISTS = 16
_INDEXED_TEXT = 100_000


class Sessions:
    """Creates, lists, changes and deletes sessions."""

    def __init__(
        self, vault: Vault, store: SessionStore, trust: TrustStore, transcripts: Transcripts, events: Events
    ) -> None:
        self.transcripts = transcripts
        self._events = events
        self._vault = vault
        self._store = store
        self._trust = trust
        self._generation = 0
        self._boot = secrets.token_hex(4)
        self._lists: OrderedDict[tuple[Any, ...], tuple[int, bytes]] = OrderedDict()

    async def start(self) -> None:
        """Take back what rows claim and nobody approved here: the vault may come from another machine."""
        approved = await self._trust.direct_sessions()
        for session in await self._store.with_level("direct"):
            if session.id not in approved:
                session.trust_level = "sandboxed"
                await self._save(session)

    async def create(self, session: Session, approved_by: str | None = None) -> Session:
        """Store a new session; a direct one needs the name of who approved it. Error: Conflict if the id is taken."""
        if session.trust_level == "direct":
            if approved_by is None:
                raise NotAllowed("trustLevel: a direct session needs the owner's approval.")
            await self._trust.set_level(session.id, "direct", approved_by)
        try:
            await self._store.insert(session)
        except sqlite3.IntegrityError as error:
            raise Conflict(f"There is a session {session.id} already.") from error
        self._generation += 1
        await self._events.publish(
            SESSION_START,
            {"session_id": session.id, "module": "chat", "working_directory": session.working_directory},
        )
        return session

    async def get(self, session: str) -> Session:
        """One session; error: NotFound."""
        found = await self._store.get(session)
        if found is None:
            raise NotFound(f"There is no session {session[:64]!r}.", key="session_not_found")
        return found

    async def find(self, session: str) -> Session | None:
        """One session, or None."""
        return await self._store.get(session)

    async def page(
        self,
        *,
        limit: int = 500,
        offset: int = 0,
        archived: bool = False,
        search: str | None = None,
        workspace: str | None = None,
    ) -> tuple[str, bytes]:
        """A list as (ETag, JSON), made of stored projections and kept until a session changes."""
        key = (limit, offset, archived, search, workspace)
        generation = self._generation
        etag = f'"{self._boot}-{generation}-{hash(key) & 0xFFFFFFFF:x}"'
        if (cached := self._lists.get(key)) and cached[0] == generation:
            return etag, cached[1]
        summaries = await self._store.summaries(
            limit=limit, offset=offset, archived=archived, search=search, workspace=workspace
        )
        body = b'{"sessions":[' + ",".join(summaries).encode() + b"]}"
        self._lists[key] = (generation, body)
        if len(self._lists) > _CACHED_LISTS:
            self._lists.popitem(last=False)
        return etag, body

    def page_etag(self, *key: Any) -> str:
        """The ETag that `page` would give for (limit, offset, archived, search, workspace)."""
        return f'"{self._boot}-{self._generation}-{hash(key) & 0xFFFFFFFF:x}"'

    async def count(self) -> int:
        """How many sessions there are."""
        return await self._store.count()

    async def archive(self, session: str, archived: bool) -> Session:
        """Put a session away, or take it back."""
        found = await self.get(session)
        found.archived = archived
        await self._save(found)
        return found

    async def configure(self, session: str, changes: dict[str, Any], *, approved_by: str, admin: bool) -> Session:
        """Change a session (contract, section 2); error: InvalidInput naming the field, NotAllowed."""
        found = await self.get(session)
        if "trustLevel" in changes and changes["trustLevel"] is not None:
            level = normalize_trust_level(changes["trustLevel"])
            if level == "direct" and found.from_outside and not admin:
                raise NotAllowed("trustLevel: raising a session of a bot needs a key with admin rights.")
            found.trust_level = level
        if changes.get("workspaceId"):
            raise NotFound(f"workspaceId: there is no workspace {changes['workspaceId'][:64]!r}.")
        if changes.get("workspaceId") == "":
            found.workspace_id = None
        if overrides := changes.get("configOverrides"):
            if unknown := set(overrides) - {"model"}:
                raise InvalidInput(f"configOverrides: expected only `model`, not {', '.join(sorted(unknown))}.")
            if not isinstance(overrides["model"], str | None):
                raise InvalidInput("configOverrides.model: expected a text.")
            found.model = overrides["model"] or None
        bot = dict(found.metadata.get("bot_settings", {}))
        if mode := changes.get("responseMode"):
            if mode not in ("all_messages", "mention_only"):
                raise InvalidInput("responseMode: expected `all_messages` or `mention_only`.")
            bot["response_mode"] = mode
        if (pattern := changes.get("mentionPattern")) is not None:
            bot["mention_pattern"] = pattern or None
        if bot:
            found.metadata["bot_settings"] = bot
        await self._trust.set_level(session, found.trust_level, approved_by)
        await self._save(found)
        return found

    async def activate(self, session: str, changes: dict[str, Any], *, approved_by: str, admin: bool) -> Session:
        """Configure a session that waited for it."""
        found = await self.configure(session, changes, approved_by=approved_by, admin=admin)
        if found.metadata.pop("pending_initialization", None) is not None:
            await self._save(found)
        return found

    async def level(self, session: Session) -> TrustLevel:
        """The level in force: direct only if it was approved on this machine."""
        if session.trust_level == "direct" and await self._trust.is_direct(session.id):
            return "direct"
        return "sandboxed"

    async def grants(self, session: str) -> list[str]:
        """Patterns granted to a session."""
        return await self._trust.grants(session)

    async def add_grant(self, session: str, pattern: str) -> None:
        """Grant a pattern to a session."""
        await self._trust.add_grant(session, pattern)

    async def record_turn(self, session: str, *, texts: list[tuple[str, str]], mode: str) -> Session | None:
        """Note the end of a turn: texts for the search, count of messages, and how it ran."""
        found = await self.find(session)
        if found is None:
            return None
        found.message_count += len(texts)
        found.effective_execution_mode = mode
        found.updated_at = now()
        await self._save(found)
        await self._store.add_words(session, [(kind, text[:_INDEXED_TEXT]) for kind, text in texts])
        return found

    async def save(self, session: Session) -> None:
        """Store a changed session."""
        session.updated_at = now()
        await self._save(session)

    async def delete(self, session: str) -> None:
        """Remove a session: rows, approvals, transcript and attachments."""
        await self.get(session)
        await asyncio.to_thread(self.transcripts.delete, session)
        await asyncio.to_thread(shutil.rmtree, self.attachments(session), ignore_errors=True)
        await self._trust.forget(session)
        await self._store.delete(session)
        self._generation += 1

    def attachments(self, session: str) -> Path:
        """The folder of a session's attachments."""
        return self._vault.state / "attachments" / session

    async def transcript(self, session: str, *, full: bool, segment: int | None) -> bytes:
        """The transcript as JSON; error: NotFound if there is none (yet)."""
        await self.get(session)

        def read() -> bytes | None:
            found = self.transcripts.read(session)
            if found is None:
                return None
            value = transcripts.as_json(session, *found, full=full, segment=segment)
            return json.dumps(value, ensure_ascii=False).encode(errors="replace")

        body = await asyncio.to_thread(read)
        if body is None:
            raise NotFound(f"The session {session} has no transcript.", key="transcript_not_found")
        return body

    async def messages(self, session: str) -> list[dict[str, Any]]:
        """The newest messages, empty without a transcript."""
        found = await asyncio.to_thread(self.transcripts.read, session)
        return transcripts.messages(found[1]) if found else []

    async def words(self, session: str) -> str:
        """What the search index still knows of a conversation, in order."""
        texts = await self._store.words(session)
        return "\n\n".join(f"{kind}: {text}" for kind, text in texts if kind != "title")

    async def rebuild_index(self) -> int:
        """Make the search index anew from titles and transcripts; the number of sessions read."""
        ids = await self._store.ids()
        for session in ids:
            found = await self.find(session)
            read = await asyncio.to_thread(self.transcripts.read, session)
            texts = [("title", (found.title or "") if found else "")]
            for event in (event for part in (read[1] if read else []) for event in part.events):
                text = transcripts.user_text(event) or transcripts.assistant_text(event)
                if text:
                    texts.append((event["type"], text[:_INDEXED_TEXT]))
            await self._store.replace_words(session, texts)
        return len(ids)

    async def _save(self, session: Session) -> None:
        await self._store.save(session)
        self._generation += 1
