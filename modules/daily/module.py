"""Daily: a journal in plain files, one for each day."""

import asyncio
from typing import Any

from daily.assets import AssetRoutes
from daily.conversation import ConversationRoutes
from daily.journal import suggestions, undoing
from daily.journal.bringing import BringingRoutes
from daily.journal.documents import document_of, found_document, version_of
from daily.journal.mentions import Linker
from daily.journal.names import ROOT
from daily.journal.routes import EntryRoutes
from daily.journal.service import Journal
from daily.recordings import INCOMING, RecordingRoutes
from daily.reflections import ReflectionRoutes
from daily.sync.routes import SyncRoutes
from daily.sync.service import Sync
from daily.sync.versions import Versions

from parachute.core import Module, NotFound, Preview, event, mcp_tool

_FOUND = 50


class DailyModule(
    EntryRoutes, BringingRoutes, AssetRoutes, RecordingRoutes, ReflectionRoutes, ConversationRoutes, SyncRoutes, Module
):
    """The journal; with Brain, entries know what they are about, and without it nothing is missing."""

    name = "daily"
    version = "1.0.0"
    description = "Your journal, in plain files that you own"
    permissions = {"write": [f"{ROOT}/**"]}
    provides = ("JournalInterface",)
    optional_requires = ("BrainInterface",)
    accepts = suggestions.ACCEPTS

    def __init__(self) -> None:
        self.versions = Versions(self.core.data)
        self.uploading: set[str] = set()
        self.pieces = self.core.files.pieces(INCOMING)
        self.taking = asyncio.Lock()
        self.journal = Journal(self.core, self.new_para_id, self.versions.keep)
        self.linker = Linker(self.core, self.journal, lambda: self.get_interface("BrainInterface"))
        self.journal.reconciler.edited = self.linker.edited
        self.sync = Sync(self.core, self.journal, self.versions)

    async def on_start(self) -> None:
        """Read all files while the first requests are answered already."""
        self.journal.start()

    async def on_stop(self) -> None:
        """Finish what is being written."""
        await self.linker.close()
        await self.journal.close()
        self.sync.close()
        self.versions.close()

    async def resolve_para_id(self, para_id: str) -> dict[str, Any] | None:
        """The entry with a para-id."""
        try:
            found = await self.journal.get(para_id)
        except NotFound:
            return None
        return {**document_of(found), "version": version_of(found.entry)}

    async def check_suggestion(self, action: str, target_id: str | None, payload: dict[str, Any]) -> None:
        """Raise what stands against a change that is proposed."""
        await suggestions.check(self.journal, action, target_id, payload)

    async def apply_suggestion(
        self,
        action: str,
        target_id: str | None,
        payload: dict[str, Any],
        expected_version: str | int | None,
        suggestion_id: str = "",
    ) -> dict[str, Any]:
        """Make a change that the user approved."""
        version = None if expected_version is None else str(expected_version)
        found = await suggestions.apply(self.journal, suggestion_id, action, target_id, payload, version)
        return _shown(document_of(found))

    async def preview_suggestion(self, action: str, target_id: str | None, payload: dict[str, Any]) -> Preview:
        """An entry before a change and after it."""
        return await undoing.preview(self.journal, action, target_id, payload)

    async def undo_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], keep: Any, result: Any
    ) -> None:
        """Take a change back that was applied."""
        await undoing.undo(self.journal, action, target_id, keep, result)

    async def applied_suggestion(
        self,
        suggestion_id: str,
        action: str,
        target_id: str | None,
        payload: dict[str, Any],
        expected_version: str | int | None,
    ) -> dict[str, Any] | None:
        """The result of a change that had begun when the process was killed."""
        version = None if expected_version is None else str(expected_version)
        found = await suggestions.applied(self.journal, suggestion_id, action, target_id, payload, version)
        return None if found is None else _shown(document_of(found))

    @event("daily.entry.created")
    async def on_entry_created(self, entry_id: str) -> None:
        """Link a new entry with what it mentions."""
        await self.linker.link(entry_id)

    @event("daily.entry.updated")
    async def on_entry_updated(self, entry_id: str) -> None:
        """Link what a changed entry mentions now."""
        await self.linker.link(entry_id)

    @event("brain.entity.created")
    async def on_entity_created(self, names: list[str]) -> None:
        """Link the newest entries that name what Brain has come to know."""
        await self.linker.link_naming(names)

    @event("vault.changed")
    async def on_vault_changed(self, paths: list[str]) -> None:
        """Take over what somebody else changed in the journal's files."""
        if any(path.rstrip("/") in (ROOT, f"{ROOT}/journals") for path in paths):
            await self.journal.reconciler.everything()
        else:
            await self.journal.reconciler.some(paths)

    @mcp_tool("daily-search", read_only=True)
    async def search_tool(self, query: str, date_from: str | None = None, limit: int = 10) -> list[dict[str, Any]]:
        """Find journal entries that contain all of the given words, newest first, and then some that mean what they mean.

        Args:
            query: Words to look for, the last of which may be unfinished, or a question.
            date_from: Only entries from this day on, as YYYY-MM-DD.
            limit: How many entries at most, up to 50.
        """
        found = await self.journal.search(query, date_from, None, max(1, min(limit, _FOUND)), near=True)
        return [_shown(found_document(entry)) for entry in found]

    @mcp_tool("daily-today", read_only=True)
    async def today_tool(self, date: str | None = None) -> list[dict[str, Any]]:
        """All journal entries of today, or of another day.

        Args:
            date: The day, as YYYY-MM-DD.
        """
        day = date or self.journal.today()
        return [_shown(document_of(entry)) for entry in await self.journal.of_day(day)]

    @mcp_tool("daily-create")
    async def create_tool(self, content: str, title: str = "", date: str | None = None) -> dict[str, Any]:
        """Write an entry into the journal, for today unless a date is given.

        Args:
            content: The text, in Markdown.
            title: A title; without one it is the time.
            date: The day, as YYYY-MM-DD.
        """
        return _shown(document_of(await self.journal.create(content, title, date)))


def _shown(document: dict[str, Any]) -> dict[str, Any]:
    """The fields of an entry that an agent needs."""
    names = ("id", "date", "time", "title", "content", "path", "mentions", "found_by")
    return {name: document[name] for name in names if document.get(name)}
