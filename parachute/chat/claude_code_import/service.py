"""Conversations of Claude Code: lists of them, and adopting one as a session of this computer."""

import asyncio
import contextlib
import logging
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from parachute.base.clock import as_text, now
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, ParachuteError
from parachute.chat.claude_code_import.copies import Copies
from parachute.chat.claude_code_import.history import History
from parachute.chat.claude_code_import.models import Adoption, Expiring, Found, Summary
from parachute.chat.sessions.models import SHORT_TITLE, Session
from parachute.chat.sessions.service import Sessions
from parachute.config.vault.service import Vault
from parachute.events.bus.catalogue import SESSION_START
from parachute.events.hooks.service import Hooks
from parachute.sandbox.engines.service import Sandboxes
from parachute.security.origin import Origin

log = logging.getLogger(__name__)

_SOURCE = "claude-code"
_DAY = 24 * 60 * 60


class ClaudeCode:
    """Reads the owner's history of Claude Code, and adopts conversations from it; the originals are never changed."""

    def __init__(self, history: History, vault: Vault, sessions: Sessions, sandboxes: Sandboxes, hooks: Hooks) -> None:
        self._history = history
        self._vault = vault
        self._sessions = sessions
        self._sandboxes = sandboxes
        self._hooks = hooks
        self._copies = Copies(history, vault, sessions.transcripts, sandboxes)
        # One at a time: each reading may go through gigabytes, and what it has read the next one need not read again.
        self._reading = asyncio.Lock()
        self._adopting = asyncio.Lock()

    async def start(self) -> None:
        """Remove what an interrupted adoption has left."""
        with contextlib.suppress(OSError):
            for name in await asyncio.to_thread(self._copies.unsettled):
                if await self._sessions.find(name) is None:
                    await asyncio.to_thread(self._copies.remove, name)
        await asyncio.to_thread(self._copies.clear)

    async def recent(self, limit: int) -> list[dict[str, Any]]:
        """The newest conversations of all projects."""
        async with self._reading:
            found = await asyncio.to_thread(self._history.newest, limit)
        return [summary.as_json() for summary in found]

    async def projects(self) -> list[dict[str, Any]]:
        """The folders in which there were conversations."""
        async with self._reading:
            return await asyncio.to_thread(self._history.projects)

    async def of_project(self, path: str, limit: int) -> list[dict[str, Any]]:
        """The newest conversations of one project, empty for a path that is none."""
        async with self._reading:
            found = await asyncio.to_thread(self._history.newest, limit, _trimmed(path))
        return [summary.as_json() for summary in found]

    async def details(self, session: str, path: str | None) -> dict[str, Any]:
        """A conversation with its newest messages; error: NotFound."""
        found, summary = await self._find(session, path)
        async with self._reading:
            messages = await asyncio.to_thread(self._history.messages, found)
        shown = summary.as_json()
        kept = {name: shown[name] for name in ("sessionId", "title", "cwd", "model", "createdAt")}
        return {**kept, "messages": messages}

    async def expiring(self, days: int) -> tuple[int | None, list[Expiring]]:
        """The days after which Claude Code deletes conversations, and those that it deletes in the next `days`, without those
        that are here; the first to go comes first."""
        kept = await asyncio.to_thread(self._history.retention_days)
        if kept is None:
            return None, []
        async with self._reading:
            found = await asyncio.to_thread(self._history.unchanged_since, time.time() - (kept - days) * _DAY)
        return kept, [
            Expiring(each, summary, as_text(datetime.fromtimestamp(each.modified / 1e9 + kept * _DAY, UTC)))
            for each, summary in found
            if await self._sessions.find(each.session) is None
        ]

    async def keep(self, days: int, *, by_owner: bool) -> tuple[list[str], list[tuple[str, str]]]:
        """Adopt all that Claude Code deletes in the next `days`; the ids of those that are here now, and of the others the reason."""
        kept, failed = [], []
        for each in (await self.expiring(days))[1]:
            session = each.found.session
            try:
                async with self._adopting:
                    if await self._sessions.find(session) is None:
                        await self._adopt(each.found, each.summary, None, by_owner)
            except ParachuteError as error:
                failed.append((session, error.message))
            else:
                kept.append(session)
        return kept, failed

    async def adopt(self, session: str, path: str | None, directory: str | None, *, by_owner: bool = True) -> Adoption:
        """Make a session of this computer that goes on with a conversation, under the id that it has.

        `directory`: the folder to work in, by default the conversation's own; without one if an agent may not work there, or somebody
        else than the owner asks, who alone chooses folders.
        Errors: NotFound, InvalidInput, NotAllowed by a hook, Conflict if the id belongs to a module; then nothing is kept.
        """
        async with self._adopting:
            existing = await self._sessions.find(session)
            if existing is not None:
                await self._sessions.check_owner(existing, None)
                return Adoption(existing.id, False, existing.message_count, "This conversation is here already.")
            found, summary = await self._find(session, path)
            adopted, problem = await self._adopt(found, summary, directory, by_owner)
        sentence = f"You can go on with {adopted.title!r} here; the original stays as it is."
        return Adoption(adopted.id, True, adopted.message_count, f"{sentence} {problem}" if problem else sentence)

    async def _adopt(
        self, found: Found, summary: Summary, directory: str | None, by_owner: bool
    ) -> tuple[Session, str | None]:
        stored, problem = await self._directory(directory, summary.project, by_owner)
        adopted = _session(summary, stored)
        await self._take(found, adopted)
        return adopted, problem

    async def _find(self, session: str, path: str | None) -> tuple[Found, Summary]:
        async with self._reading:
            return await asyncio.to_thread(self._history.find, session, _trimmed(path) if path else None)

    async def _directory(
        self, wanted: str | None, project: str | None, by_owner: bool
    ) -> tuple[str | None, str | None]:
        """Return the folder in its stored form, or None and the reason."""
        if not (wanted or project):
            return None, None
        if not by_owner:
            return None, "It has no folder to work in: only the owner chooses one."
        directory = self._vault.absolute(wanted) if wanted else Path(project or "/")

        def check() -> tuple[str | None, str]:
            try:
                # First of all whether an agent may work there: who asks does not learn which other folders there are.
                allowed = self._sandboxes.check_project(directory)
                if allowed.is_dir():
                    return self._vault.relative(allowed), ""
            except InvalidInput as refusal:
                return None, str(refusal).removeprefix("workingDirectory: ")
            except (OSError, RuntimeError, ValueError):
                return None, f"{directory} cannot be reached."
            return None, f"{directory} does not exist on this computer."

        stored, problem = await asyncio.to_thread(check)
        return stored, f"It has no folder to work in: {problem}" if problem else None

    async def _ask_hooks(self, session: Session) -> None:
        data = {
            "session_id": session.id,
            "module": "chat",
            "working_directory": session.working_directory,
            "trust_level": session.trust_level,
        }
        outcome = await self._hooks.fire(SESSION_START, data)
        if outcome.blocked:
            raise NotAllowed(f"A hook does not allow this conversation: {outcome.reason}", key="blocked_by_hook")

    async def _take(self, found: Found, session: Session) -> None:
        """Copy the transcript and store the session: both, or neither."""
        is_ours = False
        try:
            await asyncio.to_thread(self._copies.stage, found)
            await self._ask_hooks(session)
            is_ours = self._copies.place(session.id)
            await self._sessions.lower_origin(session.id, Origin.IMPORT)
            await self._sessions.create(session)
        except BaseException as error:
            await self._undo(session.id, is_ours=is_ours, is_taken=isinstance(error, Conflict))
            raise
        finally:
            self._copies.unstage(session.id)
        self._copies.settle(session.id)
        try:
            await self._sessions.search_index.update(session.id)
        except (OSError, sqlite3.Error):
            log.warning(
                "The search does not know %s; `parachute sessions reindex` makes it.", session.id, exc_info=True
            )

    async def _undo(self, session: str, *, is_ours: bool, is_taken: bool) -> None:
        """Remove what an adoption that failed has made; what cannot be removed now goes at the next start."""
        if not is_ours:
            return
        try:
            # A row that was in the way is of somebody else; one that was cut off on its way here is ours.
            if not is_taken and await self._sessions.find(session) is not None:
                await self._sessions.delete(session)
            self._copies.remove(session)
        except (OSError, sqlite3.Error):
            log.warning("What was left of adopting %s could not be removed.", session, exc_info=True)


def _session(summary: Summary, directory: str | None) -> Session:
    moment = now()
    first = " ".join((summary.first_message or "").split())
    return Session(
        id=summary.session,
        created_at=summary.created_at or moment,
        # Its own time: fifty that are kept at once do not come before all that was said since.
        updated_at=min(as_text(datetime.fromisoformat(summary.last_timestamp)), moment),
        title=(summary.title or first)[:SHORT_TITLE] or "A conversation of Claude Code",
        message_count=summary.message_count,
        source=_SOURCE,
        original_id=summary.session,
        working_directory=directory,
    )


def _trimmed(path: str) -> str:
    return path.rstrip("/") or "/"
