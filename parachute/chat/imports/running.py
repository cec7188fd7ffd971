"""One import from its upload on: what the program reads gets its place, a conversation whole or not at all."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

from parachute.base.clock import now
from parachute.base.errors import Conflict, InvalidInput, ParachuteError
from parachute.base.steering.judging import holds_obeyed, is_told, is_told_in_vault
from parachute.changes.lineage import Lineage
from parachute.chat.imports import reader
from parachute.chat.imports.folders import PLACE, ImportFolders
from parachute.chat.imports.models import KINDS, WHY, Import
from parachute.chat.imports.reading.brain import FOLDERS
from parachute.chat.imports.reading.notes import is_hidden, plain
from parachute.chat.sessions.imported import session_of
from parachute.chat.sessions.importing import ImportedSessions
from parachute.chat.sessions.models import Session, is_session_id
from parachute.security.origin import Origin

_BATCH = 20
_BATCH_MESSAGES = 400
"""Conversations in one transaction, and their messages: others write between two of them."""


BringSuggestion = Callable[[dict[str, Any], bool], Awaitable[bool]]
"""Stores a suggestion that came with an archive, or in a dry run only looks: whether it was not there. Error: InvalidInput."""


class Running:
    """Runs one import; `sessions_here` are the ids of those that it brought or found here, in order."""

    def __init__(
        self,
        record: Import,
        folders: ImportFolders,
        sessions: ImportedSessions,
        bring: BringSuggestion,
        lineage: Lineage,
    ) -> None:
        self.record = record
        self._lineage = lineage
        self._bring = bring
        self.sessions_here: list[str] = []
        self._changed = asyncio.Event()
        self._folders = folders
        self._sessions = sessions
        self._batch: list[Session] = []
        self._archived = record.archived
        self._asked = ""

    @property
    def change(self) -> asyncio.Event:
        """The next change, for those who wait for it."""
        return self._changed

    def announce(self) -> None:
        """Wake everybody who waits for a change."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def run(self, kind: str) -> None:
        """Read the upload and place what is in it; errors: ParachuteError, OSError, sqlite3.Error. What was placed stays."""
        record, folder = self.record, self._folders.root / self.record.id
        self._asked = kind
        known = await self._sessions.ids()
        await asyncio.to_thread((folder / "staged" / "known").write_text, "\n".join(known))
        async with aclosing(reader.read(folder / "upload", kind, folder / "staged", dry_run=record.dry_run)) as lines:
            async for line in lines:
                await _to_its_end(self._take(line))
                self.announce()
        await _to_its_end(self._flush())

    async def _take(self, line: dict[str, Any]) -> None:
        record = self.record
        if isinstance(done := line.get("progress"), float):
            record.progress = max(record.progress, min(done, 1.0))
        if (kind := line.get("kind")) in KINDS:
            if kind != self._asked and (self._asked != "auto" or kind == "brain"):
                raise InvalidInput(f"The export looks like {kind}, which is not the kind you named.")
            record.kind = kind
        if line.get("archived") is True:
            self._archived = True
        counts = line.get("left_out", {})
        record.leave_out({what: count for what, count in counts.items() if what in WHY and isinstance(count, int)})
        if isinstance(error := line.get("error"), str):
            record.fail(error)
        if isinstance(session := line.get("skipped"), str):
            record.conversations += 1
            record.skipped += 1
            self.sessions_here.append(session)
        if isinstance(found := line.get("conversation"), dict):
            await self._conversation(found)
        if isinstance(file := line.get("file"), dict):
            await self._file(file)
        if isinstance(suggestion := line.get("suggestion"), dict):
            await self._suggestion(suggestion)

    async def _conversation(self, found: dict[str, Any]) -> None:
        record, identifier = self.record, str(found.get("session"))
        if not is_session_id(identifier):
            raise InvalidInput("sessionId: expected 1 to 64 letters, digits, `-` and `_`.")
        record.conversations += 1
        session = session_of(found, identifier, import_id=record.id)
        session.archived = session.archived or self._archived
        record.messages += session.message_count
        record.oldest = min(filter(None, (record.oldest, session.created_at)))
        record.newest = max(filter(None, (record.newest, session.updated_at)))
        if record.dry_run:
            record.imported += 1
            return
        if (staged := found.get("staged")) is not None:
            await asyncio.to_thread(self._folders.place_transcript, record.id, str(staged), identifier)
        self._batch.append(session)
        if len(self._batch) >= _BATCH or sum(each.message_count for each in self._batch) >= _BATCH_MESSAGES:
            await self._flush()

    async def _flush(self) -> None:
        batch, self._batch = self._batch, []
        if not batch:
            return
        await asyncio.to_thread(self._folders.sync_transcripts)
        try:
            added = await self._sessions.add(batch)
        except BaseException:
            for session in batch:
                self._folders.remove_transcript(session.id)
            raise
        self.record.imported += len(added)
        self.record.skipped += len(batch) - len(added)
        self.sessions_here += [session.id for session in batch]

    async def _file(self, found: dict[str, Any]) -> None:
        record = self.record
        record.files += 1
        path, time = str(found.get("path")), found.get("time")
        parts = [plain(part) for part in path.split("/") if part]
        is_brain = record.kind == "brain"
        if is_brain and is_told_in_vault(path) and not holds_obeyed(path):
            if not record.takes_contexts:
                record.leave_out({"contexts": 1})
                return
        elif (
            (is_brain and parts[:1] not in ([folder] for folder in FOLDERS.values())) or not parts or _is_unsafe(parts)
        ):
            record.leave_out({"unsafe_names": 1})
            return
        # In its own place it has the name that it had, or none.
        if is_hidden("/".join(parts)) or (is_brain and "/".join(parts) != path):
            record.leave_out({"unsafe_names": 1})
            return
        if not record.takes_files:
            record.leave_out({"files_of_others": 1})
            return
        if record.dry_run and not is_brain:
            record.files_imported += 1
            return
        target = path if is_brain else "/".join([PLACE, plain(record.name), *parts])
        try:
            if not record.dry_run:
                await self._note_origin(str(found.get("staged")), target)
            placed = await asyncio.to_thread(self._place, found, target, time if isinstance(time, str) else None)
        except (NotADirectoryError, IsADirectoryError, InvalidInput):
            placed = False  # a file is in the place of a folder, or the other way round
        if placed is False:
            record.conflict(target)
        else:
            record.files_imported += placed is True
            record.files_skipped += placed is None

    async def _note_origin(self, staged: str, target: str) -> None:
        """Note of a file that is about to be placed where it comes from; what is there already stays what it was."""
        content = await asyncio.to_thread(self._folders.content, self.record.id, staged)
        if await asyncio.to_thread(self._folders.compare, target, content[0]) is True:
            await self._lineage.wrote(self._folders.vault / target, [""], Origin.IMPORT, [content])

    def _place(self, found: dict[str, Any], target: str, time: str | None) -> bool | None:
        if self.record.dry_run:
            return self._folders.compare(target, str(found.get("digest")))
        return self._folders.place_file(self.record.id, str(found.get("staged")), target, time)

    async def _suggestion(self, found: dict[str, Any]) -> None:
        self.record.suggestions += 1
        try:
            brought = await self._bring(found, self.record.dry_run)
        except InvalidInput:
            self.record.leave_out({"malformed": 1})
        except Conflict:
            self.record.leave_out({"too_many_waiting": 1})
        else:
            self.record.suggestions_imported += brought

    async def drop(self) -> None:
        """Forget what was placed and not stored."""
        for session in self._batch:
            with contextlib.suppress(OSError, sqlite3.Error):
                await asyncio.to_thread(self._folders.remove_transcript, session.id)
        self._batch = []


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Wait for one step, also if the import is cancelled meanwhile: a thread goes on, and would place what nobody knows of."""
    step = asyncio.create_task(work)
    try:
        await asyncio.shield(step)
    except asyncio.CancelledError:
        await asyncio.gather(step, return_exceptions=True)
        raise


async def undo(
    record: Import, folders: ImportFolders, sessions: ImportedSessions, announce: Callable[[], None]
) -> None:
    """Remove what an import brought and nobody has changed since; the rest stays, and is named."""
    record.kept = []
    for session in await sessions.brought_by(record.id):
        if sessions.is_untouched(session):
            with contextlib.suppress(ParachuteError):  # somebody has deleted it meanwhile
                await sessions.sessions.delete(session.id)
                record.imported -= 1
        else:
            record.kept.append(session.title or session.id)
        announce()
    for placed in await asyncio.to_thread(lambda: list(folders.files(record.id))):
        if not await asyncio.to_thread(folders.take_back, placed):
            record.kept.append(placed[0])
    record.ended_at = now()


def _is_unsafe(parts: Sequence[str]) -> bool:
    """Return whether a file would steer agents or programs, or git take its folder for a repository: none has no HEAD."""
    path = "/".join(parts)
    return parts[-1].casefold() == "head" or is_told(path) or holds_obeyed(path)
