"""Sessions: creating, changing, listing and deleting them, and their level of trust."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from parachute.base.clock import now
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound
from parachute.base.files import remove_tree
from parachute.chat.sessions.changes import change_of, title_in
from parachute.chat.sessions.kept_permissions import KeptPermissions
from parachute.chat.sessions.listing import SessionList
from parachute.chat.sessions.meaning import MeaningSearch
from parachute.chat.sessions.messages import NEWEST, Message, messages_of
from parachute.chat.sessions.models import MODULE, Owner, Session, SessionPlace, ShownSession, is_session_id, para_id_of
from parachute.chat.sessions.search_index import INDEXED_TEXT, SearchIndex
from parachute.chat.sessions.store import SessionStore
from parachute.chat.sessions.transcript import encoded
from parachute.chat.sessions.transcripts import Transcripts
from parachute.chat.sessions.trust_store import TrustStore
from parachute.config.vault.service import Vault
from parachute.events.bus.catalogue import SESSION_START
from parachute.events.bus.service import Events
from parachute.security.origin import Origin, lowest
from parachute.security.trust_levels import Floors, NoFloors, TrustLevel, normalize_trust_level

_READERS = 2
"""Transcripts that are read at the same time: each keeps a processor busy, and the event loop needs one, too."""


class Sessions:
    """Creates, lists, changes and deletes sessions; `closed` is called when somebody has closed one."""

    def __init__(
        self,
        vault: Vault,
        store: SessionStore,
        trust: TrustStore,
        transcripts: Transcripts,
        events: Events,
        by_meaning: MeaningSearch,
        closed: Callable[[], None],
        floors: Floors | None = None,
    ) -> None:
        self.transcripts = transcripts
        self._floors = floors or NoFloors()
        self._events = events
        self._vault = vault
        self._store = store
        self._trust = trust
        self.permissions = KeptPermissions(trust, self._change)
        self.listing = SessionList(store, by_meaning)
        self.search_index = SearchIndex(store, transcripts, self.listing)
        self._reading = asyncio.Semaphore(_READERS)
        self._closed = closed

    async def start(self) -> None:
        """Take back what rows claim and nobody approved here: the vault may come from another machine."""
        await self._trust.adopt_places(await self._store.places())
        approved = await self._trust.direct_sessions()
        for session in await self._store.with_level("direct"):
            if session.id not in approved:
                await self._change(session.id, _lower)

    async def create(
        self,
        session: Session,
        approved_by: str | None = None,
        *,
        owner: Owner | None = None,
        heir_of: str | None = None,
    ) -> Session:
        """Store a new session; a direct one needs the name of who approved it, one that a module makes its owner.

        One that is `heir_of` another has its permissions and its origin from the first moment on.

        Error: Conflict if the id is taken.
        """
        if not is_session_id(session.id):
            raise InvalidInput("sessionId: expected 1 to 64 letters, digits, `-` and `_`.", key="invalid_session_id")
        if session.trust_level == "direct" and approved_by is None:
            raise NotAllowed("trustLevel: a direct session needs the owner's approval.", key="direct_needs_owner")
        if session.workspace_id is not None:
            session.trust_level = self.floored(session.trust_level, session.workspace_id, must_exist=False)
        if owner is not None:
            session.metadata[MODULE] = owner.module
        if heir_of is not None:
            await self._trust.lower_origin(session.id, await self.origin(heir_of), Origin.OWNER)
            await self._trust.inherit(heir_of, session.id)
        try:
            await self._store.insert(session)
        except sqlite3.IntegrityError as error:
            raise Conflict(f"The session {session.id} already exists.", key="session_exists") from error
        if session.trust_level == "direct" and approved_by is not None:
            # After the row, so that a taken id approves nothing for the session that has it.
            await self._trust.set_level(session.id, "direct", approved_by)
        if session.workspace_id is not None:
            await self._trust.set_workspace(session.id, session.workspace_id)
        if owner is not None:
            # After the row for the same reason; until then its label keeps everybody out.
            await self._trust.set_owner(session.id, owner)
        await self._trust.set_place(session.id, SessionPlace(session.working_directory, session.outside))
        await self._trust.set_origin(session.id, Origin.OWNER)
        self.listing.changed()
        module = owner.module if owner else "chat"
        await self._events.publish(
            SESSION_START,
            {
                "session_id": session.id,
                "module": module,
                "working_directory": session.working_directory,
                "trust_level": session.trust_level,
            },
        )
        return session

    async def check_owner(self, session: Session, asking: Owner | None) -> None:
        """See that whoever asks may go on with a session: the module that made it with the same agent, or a person (None).

        Errors: NotFound for a module, with the same words as for a session that does not exist; Conflict for a person.
        """
        owner = await self._trust.owner(session.id)
        if asking is not None:
            if owner != asking:
                raise _unknown(session.id)
        elif name := owner.module if owner else session.label_of_module:
            raise Conflict(
                f"sessionId: this conversation belongs to the module {name[:40]}, whose agent answers in it.",
                "Start a new chat; it may continue from this one.",
                key="module_session",
            )

    async def get(self, session: str) -> Session:
        """One session; error: NotFound."""
        found = await self.find(session)
        if found is None:
            raise _unknown(session)
        return found

    async def find(self, session: str) -> Session | None:
        """One session, or None."""
        return await self._here(await self._store.get(session)) if is_session_id(session) else None

    async def _here(self, session: Session | None) -> Session | None:
        """A session with the folder and the workspace that it has on this machine; what the vault says of them is a label."""
        if session is None:
            return None
        place, workspace = await self._trust.place(session.id), await self._trust.workspace(session.id)
        folder = place.folder if place else None
        if session.working_directory != folder:
            session.claimed_directory = session.working_directory
        session.working_directory, session.workspace_id = folder, workspace
        if place is not None and place.outside is not None and not session.from_outside:
            session.linked_bot_platform = place.outside
        return session.remember()

    async def linked(self, platform: str, chat: str) -> list[Session]:
        """The newest sessions that say they are of a chat of a messenger, also those put away."""
        return await self._store.linked(platform, chat)

    async def count(self) -> int:
        """Number of sessions."""
        return await self._store.count()

    async def archive(self, session: str, archived: bool) -> Session:
        """Put a session away, which ends it, or take it back."""

        def change(found: Session) -> None:
            found.archived = archived

        return await self._change(session, change, closes=archived)

    async def pin(self, session: str, pinned: bool) -> Session:
        """Keep a session on top of the list, or no more."""

        def change(found: Session) -> None:
            found.pinned = pinned

        return await self._change(session, change)

    async def end(self, session: str) -> Session:
        """End a session without putting it away; the next message begins it again."""
        return await self._change(session, lambda found: None, closes=True)

    async def with_para_id(self, para_id: str) -> Session | None:
        """The session with a para-id, or None."""
        ids = await self._store.ids()
        found = await asyncio.to_thread(lambda: next((each for each in ids if para_id_of(each) == para_id), None))
        return None if found is None else await self.find(found)

    async def revise(
        self, session: str, *, title: str | None, archived: bool | None, version: str | None = None
    ) -> Session:
        """Give a session another title or place, what is None stays.

        Errors: NotFound, InvalidInput, Conflict if it has not this `version`.
        """
        words = title_in({"title": title})

        def change(found: Session) -> None:
            if version not in (None, found.version):
                raise Conflict(
                    "The conversation has changed since.",
                    "Check its title, and whether it is archived.",
                    key="session_changed",
                )
            found.title = found.title if words is None else words
            found.archived = found.archived if archived is None else archived

        changed = await self._change(session, change, closes=bool(archived))
        if words is not None:
            await self._store.words.replace_title(session, words)
            self.listing.changed(words_of=session)
        return changed

    async def configure(
        self, session: str, changes: dict[str, Any], *, approved_by: str, admin: bool, begin: bool = False
    ) -> Session:
        """Change a session (contract, section 2); `begin` takes it out of its waiting.

        Errors: InvalidInput naming the field, NotFound, NotAllowed; then nothing has changed.
        """
        found = await self.get(session)
        apply = change_of(changes)
        word = changes.get("trustLevel")
        level = None if word is None else normalize_trust_level(word)
        asked = changes.get("workspaceId")
        workspace = await self.workspace(found) if asked is None else asked
        if asked or level == "direct":
            held = self.floored(level or found.trust_level, workspace, must_exist=bool(asked))
            level = held if level or held != found.trust_level else None
        if level == "direct":
            await self.check_owner(found, None)
        if level == "direct" and found.from_outside and not admin:
            raise NotAllowed(
                "trustLevel: raising a session of a bot needs a key with admin rights.", key="raise_needs_admin"
            )
        if level:
            await self._trust.set_level(session, level, approved_by)
        if asked is not None:
            await self._trust.set_workspace(session, asked or None)

        def change(current: Session) -> None:
            apply(current)
            if level:
                current.trust_level = level
            if begin:
                current.metadata.pop("pending_initialization", None)

        changed = await self._change(session, change)
        if (title := title_in(changes)) is not None:
            await self._store.words.replace_title(session, title)
            self.listing.changed(words_of=session)
        return changed

    async def activate(self, session: str, changes: dict[str, Any], *, approved_by: str, admin: bool) -> Session:
        """Configure a session that waited for it."""
        return await self.configure(session, changes, approved_by=approved_by, admin=admin, begin=True)

    async def level(self, session: Session) -> TrustLevel:
        """The level in force: direct only if it was approved on this machine, and the session's workspace is direct."""
        if session.trust_level == "direct" and await self._trust.is_direct(session.id):
            return self.floored("direct", await self.workspace(session), must_exist=False)
        return "sandboxed"

    def floored(self, level: TrustLevel, workspace: str | None, *, must_exist: bool = True) -> TrustLevel:
        """A level for a session in a workspace, which is never less shut in than that; error: NotFound for no workspace."""
        floor = self._floors.floor(workspace) if workspace else "direct"
        if floor is None and must_exist:
            raise NotFound(f"workspaceId: there is no workspace {str(workspace)[:64]!r}.", key="no_workspace")
        return "sandboxed" if floor == "sandboxed" else level

    async def workspace(self, session: Session) -> str | None:
        """The workspace that a session was put into on this machine."""
        return await self._trust.workspace(session.id)

    async def workspaces(self) -> set[str]:
        """Every workspace that a session belongs to, deleted ones as well."""
        return await self._trust.workspaces() | await self._store.workspaces()

    async def lower(self, workspace: str) -> None:
        """Take the approvals of a workspace's direct sessions back."""
        members = await self._trust.direct_members(workspace)
        for member in members:
            await self._trust.set_level(member, "sandboxed", f"workspace {workspace}")
            await self._store.update(member, _lower)
        self.listing.changed()

    async def origin(self, session: str) -> Origin:
        """The lowest origin of what a session has read; one of which this machine knows nothing came from elsewhere."""
        return await self._trust.origin(session) or Origin.IMPORT

    async def lowest_origin(self, sessions: Collection[str]) -> Origin:
        """The lowest origin of what any of these sessions has read."""
        known = await self._trust.origins(sessions)
        return lowest(*(known.get(session, Origin.IMPORT) for session in sessions))

    async def lower_origin(self, session: str, origin: Origin) -> Origin:
        """Note what a session reads now; what its origin is then. It never rises again."""
        return await self._trust.lower_origin(session, origin, Origin.IMPORT)

    async def grants(self, session: str) -> list[str]:
        """Patterns granted to a session."""
        return await self._trust.grants(session)

    async def add_grant(self, session: str, pattern: str) -> None:
        """Grant a pattern to a session."""
        await self._trust.add_grant(session, pattern)

    async def record_turn(self, session: str, *, texts: list[tuple[str, str]], mode: str) -> Session | None:
        """Record the end of a turn: texts for the search, count of messages, and how it ran."""

        def change(found: Session) -> None:
            found.message_count += len(texts)
            found.effective_execution_mode = mode
            found.updated_at = now()

        changed = await self._store.update(session, change, [(kind, text[:INDEXED_TEXT]) for kind, text in texts])
        self.listing.changed(words_of=session)
        return changed

    async def save(self, session: Session) -> None:
        """Store what was changed in this copy since it was read; what others changed meanwhile stays as they left it."""
        session.updated_at = now()
        if await self._store.update(session.id, session.put_changes):
            session.remember()
        self.listing.changed()

    async def delete(self, session: str) -> None:
        """Remove a session: rows, approvals, transcript and attachments."""
        await self.get(session)
        await asyncio.to_thread(self.transcripts.delete, session)
        with contextlib.suppress(OSError):
            await asyncio.to_thread(remove_tree, self.attachments(session), self._vault.root)
        await self._trust.forget(session)
        await self._store.delete(session)
        self.listing.changed(words_of=session)
        self._closed()

    def attachments(self, session: str) -> Path:
        """The folder of a session's attachments; error: NotFound for what cannot be an id."""
        if not is_session_id(session):
            raise _unknown(session)
        return self._vault.state / "attachments" / session

    async def transcript(self, session: str, *, full: bool, segment: int | None) -> bytes:
        """The transcript as JSON; error: NotFound if there is none (yet)."""
        await self.get(session)

        def read() -> bytes | None:
            found = self.transcripts.read(session, kept="all" if full else "last" if segment is None else segment)
            return found.as_json(session) if found else None

        async with self._reading:
            body = await asyncio.to_thread(read)
        if body is None:
            raise NotFound(f"The session {session} has no transcript.", key="transcript_not_found")
        return body

    async def messages(self, session: str, limit: int = NEWEST) -> list[Message]:
        """The newest messages, empty without a transcript."""

        def read() -> list[Message]:
            found = self.transcripts.read(session, kept="messages", newest=limit)
            return messages_of(found.events, limit) if found else []

        async with self._reading:
            return await asyncio.to_thread(read)

    async def message(self, session: str, message: str) -> dict[str, Any]:
        """The event of a message of a conversation; error: NotFound."""

        def find() -> dict[str, Any] | None:
            return next((event for event in self.transcripts.events(session) if event.get("uuid") == message), None)

        async with self._reading:
            found = await asyncio.to_thread(find)
        if found is None:
            raise NotFound(
                "This message is no longer in the conversation.",
                "Open the conversation again, or begin a new one.",
                key="message_not_found",
            )
        return found

    async def with_messages(self, session: str, more: dict[str, Any] | None = None, limit: int = NEWEST) -> bytes:
        """A session with `more` and its newest messages, as JSON; error: NotFound."""
        found = await self.get(session)
        messages = await self.messages(session, limit)
        # Megabytes of messages take long to write as text: not on the event loop.
        return await asyncio.to_thread(
            encoded, {**to_builtins(ShownSession.showing(found)), **(more or {}), "messages": messages}
        )

    async def _change(self, session: str, change: Callable[[Session], None], *, closes: bool | None = None) -> Session:
        changed = await self._store.update(session, change, closes=closes) if is_session_id(session) else None
        self.listing.changed()
        if changed is None:
            raise _unknown(session)
        if closes:
            self._closed()
        return await self._here(changed) or changed


def _unknown(session: str) -> NotFound:
    return NotFound(f"There is no session {session[:64]!r}.", key="session_not_found")


def _lower(session: Session) -> None:
    session.trust_level = "sandboxed"
