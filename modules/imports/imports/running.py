"""One import from its upload on: what is read gets its place by the server, a conversation whole or not at all."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

from imports.reading.archive import Refused
from imports.reading.export import read
from imports.reading.output import Found
from imports.records import KINDS, WHY, Import, key_of
from imports.upload import Upload
from parachute.core import InvalidInput
from parachute.core.sessions import Brought, Sessions

_BATCH = 20
_BATCH_MESSAGES = 400
_BATCH_CHARACTERS = 4_000_000
_ENTRIES, _ENTRIES_CHARACTERS = 50, 2_000_000
"""Conversations in one transaction, their messages and the length of these: others write between two of them."""


class _Stopped(Exception):
    """Nobody wants the rest of the export."""


class Running:
    """Runs one import; `sessions_here` are the ids of those that it brought or found here, in order."""

    def __init__(self, record: Import, upload: Upload, sessions: Sessions) -> None:
        self.record = record
        self.upload = upload
        self.sessions_here: list[str] = []
        self._sessions = sessions
        self._changed = asyncio.Event()
        self._batch: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
        self._characters = 0
        self._entries: list[dict[str, Any]] = []
        self._archived = record.archived
        self._asked = ""
        self._is_stopped = False

    @property
    def change(self) -> asyncio.Event:
        """The next change, for those who wait for it."""
        return self._changed

    def announce(self) -> None:
        """Wake everybody who waits for a change."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def run(self, kind: str) -> None:
        """Read the upload and place what is in it; errors: ParachuteError, OSError. What was placed stays."""
        self._asked = kind
        known, fingerprints = await self._sessions.ids(), await self._sessions.fingerprints()
        loop = asyncio.get_running_loop()

        def sink(found: Found) -> None:
            if self._is_stopped:
                raise _Stopped
            # The thread that reads waits until each thing has its place.
            asyncio.run_coroutine_threadsafe(self._take(found), loop).result()

        def brought(session: str) -> Brought | None:
            if self._is_stopped:
                raise _Stopped
            return asyncio.run_coroutine_threadsafe(self._brought(session), loop).result()

        whole = partial(read, self.upload, kind, known, sink, brought, fingerprints)
        reading = asyncio.create_task(asyncio.to_thread(_quietly, whole, sink))
        try:
            await asyncio.shield(reading)
        except asyncio.CancelledError:
            self._is_stopped = True
            await asyncio.gather(reading, return_exceptions=True)
            raise
        finally:
            self._batch.clear()
            self._entries.clear()

    async def _brought(self, session: str) -> Brought | None:
        if any(chat["session"] == session for chat, _ in self._batch):
            await self._flush()  # it is in this export twice
        return await self._sessions.brought(self.record.id, session)

    async def _take(self, found: Found) -> None:
        record = self.record
        record.progress = max(record.progress, min(found.get("progress", 0.0), 1.0))
        if (kind := found.get("kind")) in KINDS:
            if kind != self._asked and (self._asked != "auto" or kind == "brain"):
                raise InvalidInput(f"The export looks like {kind}, which is not the kind you named.", key="other_kind")
            record.kind = kind
        self._archived = self._archived or found.get("archived") is True
        record.leave_out({what: count for what, count in found.get("left_out", {}).items() if key_of(what) in WHY})
        if error := found.get("error"):
            record.fail(error)
        if session := found.get("skipped"):
            record.conversations += 1
            record.skipped += 1
            self.sessions_here.append(session)
        if chat := found.get("conversation"):
            await self._conversation(chat, found["messages"], found.get("attachments", {}))
        if file := found.get("file"):
            await self._file(file, found["content"])
        if entry := found.get("entry"):
            await self._entry(entry, found["media"])
        if suggestion := found.get("suggestion"):
            await self._suggestion(suggestion)
        if found.get("end"):
            await self._flush()
            await self._flush_entries()
        self.announce()

    async def _conversation(
        self, chat: dict[str, Any], messages: list[dict[str, Any]], attachments: dict[str, Iterator[bytes]]
    ) -> None:
        record = self.record
        record.conversations += 1
        record.messages += chat.get("grows") or chat["messages"]
        record.documents += chat.get("documents", 0)
        record.attachments += len(attachments)
        record.beside += chat.get("beside") is True
        if not chat.get("grows"):
            record.oldest = min(filter(None, (record.oldest, chat["created"])), default=None)
        record.newest = max(filter(None, (record.newest, chat["updated"] or chat["created"])), default=None)
        if record.dry_run:
            record.grown += "grows" in chat
            record.imported += "grows" not in chat
            return
        for name, content in attachments.items():
            await self._sessions.add_attachment(record.id, chat["session"], name, _pieces(content))
        self._batch.append(({**chat, "archived": chat["archived"] or self._archived}, messages))
        self._characters += sum(len(each["text"]) for each in messages)
        count = sum(len(spoken) for _, spoken in self._batch)
        if len(self._batch) >= _BATCH or count >= _BATCH_MESSAGES or self._characters >= _BATCH_CHARACTERS:
            await self._flush()

    async def _flush(self) -> None:
        batch, self._batch, self._characters = self._batch, [], 0
        if not batch:
            return
        added = set(await self._sessions.add(self.record.id, batch))
        grown = sum(chat["session"] in added and "grows" in chat for chat, _ in batch)
        self.record.grown += grown
        self.record.imported += len(added) - grown
        self.record.skipped += len(batch) - len(added)
        self.sessions_here += [chat["session"] for chat, _ in batch]

    async def _file(self, file: dict[str, Any], content: Iterator[bytes]) -> None:
        record = self.record
        # A dry run of anything but an archive of our own leaves what is in a file unread.
        parts = content if record.kind == "brain" or not record.dry_run else iter(())
        outcome, path = await self._sessions.add_file(record.id, file["parts"], _pieces(parts), file["time"])
        record.files += outcome != "agent_instructions"
        record.files_imported += outcome == "new"
        record.files_skipped += outcome == "same"
        if outcome == "different_files":
            record.conflict(path)
        elif outcome in WHY:
            record.leave_out({outcome: 1})

    async def _entry(self, entry: dict[str, Any], media: dict[str, Iterator[bytes]]) -> None:
        record = self.record
        record.entries += 1
        record.oldest = min(filter(None, (record.oldest, entry["date"])))
        record.newest = max(filter(None, (record.newest, entry["date"])))
        (outcome,) = await self._sessions.add_entries(record.id, [entry], only_looking=True)
        if outcome != "new":
            self._count(outcome)
            return
        # Files come before what shows them: an entry that is here is whole.
        for name, content in () if record.dry_run else media.items():
            try:
                outcome, _ = await self._sessions.add_media(record.id, entry["date"], name, _pieces(iter(content)))
            except Refused:
                # One damaged picture, or one that would unpack to gigabytes, does not cost years of entries.
                record.leave_out({"media_damaged": 1})
                continue
            record.media += outcome == "new"
            if outcome not in ("new", "same"):
                record.leave_out({"media_not_placed": 1})
        record.media += len(media) if record.dry_run else 0
        self._entries.append(entry)
        if len(self._entries) >= _ENTRIES or sum(len(each["content"]) for each in self._entries) > _ENTRIES_CHARACTERS:
            await self._flush_entries()

    async def _flush_entries(self) -> None:
        entries, self._entries = self._entries, []
        for outcome in await self._sessions.add_entries(self.record.id, entries) if entries else ():
            self._count(outcome)

    def _count(self, outcome: str) -> None:
        self.record.entries_imported += outcome == "new"
        self.record.entries_skipped += outcome == "same"
        if outcome in WHY:
            self.record.leave_out({outcome: 1})

    async def _suggestion(self, suggestion: dict[str, Any]) -> None:
        self.record.suggestions += 1
        outcome = await self._sessions.add_suggestion(self.record.id, suggestion)
        self.record.suggestions_imported += outcome == "new"
        if outcome in WHY:
            self.record.leave_out({outcome: 1})


def _quietly(reading: Callable[[], None], sink: Callable[[Found], None]) -> None:
    try:
        reading()
    except _Stopped:
        return
    sink({"end": True})


async def _pieces(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        yield part
