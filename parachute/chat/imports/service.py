"""Imports: receiving exports, running one after the other, cancelling and undoing them."""

import asyncio
import contextlib
import logging
import os
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from parachute.base.clock import now
from parachute.base.disk_errors import disk_error
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.base.folders import Folder
from parachute.changes.lineage import Lineage
from parachute.chat.imports.folders import ImportFolders
from parachute.chat.imports.models import KINDS, Import, State
from parachute.chat.imports.reading.notes import plain
from parachute.chat.imports.running import BringSuggestion, Running, undo
from parachute.chat.sessions.importing import ImportedSessions
from parachute.security.audit.service import Audit

log = logging.getLogger(__name__)

_WAITING = 8
_PART = 4 * 1024 * 1024


class Imports:
    """Runs imports; one at a time, since each may take everything that the disk gives."""

    def __init__(
        self,
        folders: ImportFolders,
        sessions: ImportedSessions,
        audit: Audit,
        bring: BringSuggestion,
        lineage: Lineage,
    ) -> None:
        self._folders = folders
        self._lineage = lineage
        self._bring = bring
        self._sessions = sessions
        self._audit = audit
        self._one = asyncio.Lock()
        self._records: dict[str, Import] | None = None
        self._running: dict[str, Running] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._cleaning: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Remove in the background what imports have left that were under way when the computer ended."""
        self._cleaning = asyncio.create_task(self._clean(), name="imports that were interrupted")

    async def close(self) -> None:
        """End what runs; what it has brought until now stays."""
        tasks = [*self._tasks.values(), *([self._cleaning] if self._cleaning else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def all(self) -> list[Import]:
        """All imports, the newest first."""
        records = await self._known()
        return sorted(records.values(), key=lambda each: each.started_at, reverse=True)

    async def get(self, import_id: str) -> Import:
        """One import; error: NotFound."""
        found = (await self._known()).get(import_id)
        if found is None:
            raise NotFound(f"There is no import {import_id[:40]!r}.", "`parachute import list` shows all.")
        return found

    async def receive(
        self,
        parts: AsyncIterator[bytes],
        *,
        kind: str,
        name: str,
        size: int,
        by: str,
        dry_run: bool,
        archived: bool,
        takes_files: bool,
        takes_contexts: bool = False,
    ) -> Import:
        """Store an export as it comes, and begin to import it; `takes_files`: it may put files into the vault, `takes_contexts` also those that agents obey.

        Errors: InvalidInput, Conflict, DiskFull, OSError.
        """
        if kind not in ("auto", *KINDS):
            raise InvalidInput(f"kind: expected one of auto, {', '.join(KINDS)}.")
        await self._cleaned()
        records = await self._known()
        if sum(not each.is_finished for each in records.values()) >= _WAITING:
            raise Conflict(
                "Several imports are waiting already.", "Import this one when they are done.", key="imports_busy"
            )
        await asyncio.to_thread(self._folders.check_room, size)
        record = Import(secrets.token_hex(4), plain(name), None, now(), dry_run=dry_run, archived=archived)
        record.takes_files, record.takes_contexts = takes_files, takes_contexts
        folder = await asyncio.to_thread(self._folders.make, record.id)
        records[record.id] = record
        try:
            await asyncio.to_thread(self._folders.store, record)
            await _write(parts, folder, self._folders.check_room)
        except BaseException:
            del records[record.id]
            await asyncio.shield(asyncio.to_thread(self._folders.remove, record.id))
            raise
        self._begin(record, "waiting", kind, by)
        return record

    async def finished(self, import_id: str) -> tuple[Import, list[str]]:
        """Wait for the end of an import; it and the sessions that it brought or found here."""
        running, task = self._running.get(import_id), self._tasks.get(import_id)
        if task is not None:
            await asyncio.wait({task})
        return await self.get(import_id), running.sessions_here if running else []

    async def follow(self, import_id: str) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        """An import each time it has changed, until it is finished."""
        record = await self.get(import_id)
        number = 0
        while True:
            running = self._running.get(import_id)
            changed = running.change if running else None
            # Asked before it is sent: it may end meanwhile, and the last state is to be seen, too.
            is_over = record.is_finished or changed is None
            number += 1
            yield number, {"type": "import", **record.as_json()}
            if is_over or changed is None:
                return
            await changed.wait()
            await asyncio.sleep(0.1)  # conversations come by the hundred

    async def cancel(self, import_id: str) -> Import:
        """Stop an import; what it has brought until now stays. One that is over is forgotten with its record."""
        record = await self.get(import_id)
        if (task := self._tasks.get(import_id)) is not None:
            task.cancel()
            await asyncio.wait({task})
            return record
        if not record.is_finished:
            raise Conflict("The export is still being received.", "End the upload.", key="import_receiving")
        await asyncio.to_thread(self._folders.remove, import_id)
        (await self._known()).pop(import_id, None)
        return record

    async def undo(self, import_id: str, by: str) -> Import:
        """Begin to remove what an import brought, as far as nobody has gone on with it; errors: NotFound, Conflict."""
        record = await self.get(import_id)
        if not record.is_finished or record.dry_run:
            reason = "has brought nothing" if record.dry_run else "is under way"
            raise Conflict(
                f"This import {reason}.", "Cancel it first." if not record.dry_run else None, key="import_not_undone"
            )
        await asyncio.to_thread(self._folders.make, import_id)
        self._begin(record, "undoing", None, by)
        return record

    def _begin(self, record: Import, state: State, kind: str | None, by: str) -> None:
        record.state = state
        running = self._running[record.id] = Running(record, self._folders, self._sessions, self._bring, self._lineage)
        work = self._import(running, kind or "auto") if state == "waiting" else self._undo(running)
        self._tasks[record.id] = asyncio.create_task(self._finish(running, work, by), name=f"import {record.id}")

    def _settled(self, record: Import, state: State) -> None:
        """Let go of an import that is over: from now on it can be undone, or forgotten."""
        record.state = state
        self._tasks.pop(record.id, None)
        self._running.pop(record.id).announce()

    async def _import(self, running: Running, kind: str) -> State:
        record = running.record
        async with self._one:
            record.state = "running"
            await asyncio.to_thread(self._folders.store, record)
            running.announce()
            try:
                await running.run(kind)
            except BaseException:
                await asyncio.shield(running.drop())
                raise
        if record.errors:
            return "failed"
        record.progress = 1.0
        return "done"

    async def _undo(self, running: Running) -> State:
        async with self._one:
            await asyncio.to_thread(self._folders.store, running.record)
            await undo(running.record, self._folders, self._sessions, running.announce)
        return "undone"

    async def _finish(self, running: Running, work: Any, by: str) -> None:
        record = running.record
        state: State = "done" if record.state == "undoing" else "cancelled"
        try:
            state = await work
        except asyncio.CancelledError:
            work.close()
        except (ParachuteError, OSError, sqlite3.Error) as error:
            problem = disk_error(error) or error
            record.fail(str(problem))
            state = "failed"
        except Exception:
            log.exception("The import %s has failed.", record.id)
            record.fail("Something unexpected happened; `parachute logs core` shows it.")
            state = "failed"
        record.ended_at = now()
        self._audit.append(
            event_type="import",
            source_type="user",
            source_id=by,
            target_module="chat",
            target_endpoint=f"{state} {record.kind or 'unknown'} {record.id}: {record.imported} conversations",
            success=state != "failed",
            error="; ".join(record.errors) or None,
        )
        try:
            await asyncio.shield(asyncio.to_thread(self._settle, replace(record, state=state)))
        finally:
            self._settled(record, state)

    def _settle(self, record: Import) -> None:
        with contextlib.suppress(OSError):  # the next start clears it
            self._folders.clear(record.id)
            self._folders.store(record)

    async def _known(self) -> dict[str, Import]:
        if self._records is None:
            found = await asyncio.to_thread(self._folders.load)
            if self._records is None:
                self._records = found
        return self._records

    async def _cleaned(self) -> None:
        if self._cleaning is not None:
            await asyncio.wait({self._cleaning})

    async def _clean(self) -> None:
        try:
            left = await asyncio.to_thread(self._folders.unfinished)
            if not left:
                return
            records = await self._known()
            began = min((records[each].started_at for each in left if each in records), default=now())
            # What was placed and not stored: half of a conversation would be there. What is older has lost its list.
            here = set(await self._sessions.ids())
            for session in await asyncio.to_thread(self._folders.placed_since, began):
                if session not in here:
                    await asyncio.to_thread(self._folders.remove_transcript, session)
            for import_id in left:
                record = records.get(import_id)
                if record is None or record.state == "receiving":
                    records.pop(import_id, None)
                    await asyncio.to_thread(self._folders.remove, import_id)
                    continue
                if not record.is_finished:
                    # Counted anew: how far it was nobody has written down.
                    record.imported = len(await self._sessions.brought_by(import_id))
                    record.files_imported = len(await asyncio.to_thread(list, self._folders.files(import_id)))
                    record.state, record.ended_at = "interrupted", now()
                await asyncio.to_thread(self._settle, record)
        except (ParachuteError, OSError, sqlite3.Error):
            log.warning("What interrupted imports have left could not be removed.", exc_info=True)


async def _write(parts: AsyncIterator[bytes], folder: Path, check_room: Callable[[int], None]) -> None:
    """Write what comes into the new file `upload` in a folder, in large pieces, as long as there is room."""
    with Folder.open(folder) as place:
        descriptor = place.descriptor("upload", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(descriptor, "wb") as file:
        held = bytearray()
        async for part in parts:
            held += part
            if len(held) >= _PART:
                await asyncio.to_thread(file.write, bytes(held))
                held.clear()
                # How much comes nobody need have said before.
                await asyncio.to_thread(check_room, 0)
        await asyncio.to_thread(file.write, bytes(held))
        size = file.tell()
    if not size:
        raise InvalidInput("The export is empty.", key="import_empty")
