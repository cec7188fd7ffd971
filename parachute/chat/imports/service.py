"""The server's side of imports: it places what a module has read of an upload, and takes it back."""

import asyncio
import contextlib
import errno
import hashlib
import logging
import os
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from msgspec import to_builtins

from parachute.base.clock import now
from parachute.base.disk_errors import disk_error
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError
from parachute.base.json_fields import object_field, text_field
from parachute.changes.contents import Content
from parachute.changes.lineage import Lineage
from parachute.chat.imports.arriving import Arriving
from parachute.chat.imports.attached import AttachedFiles, check_attachment
from parachute.chat.imports.folders import Record
from parachute.chat.imports.growing import Growing
from parachute.chat.imports.journal import ImportedEntries, entries_of
from parachute.chat.imports.models import Import, LeftOut
from parachute.chat.sessions.importing import ImportedSessions
from parachute.chat.sessions.models import Session
from parachute.modules.runtime.interfaces import Interfaces
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.requests import Requests
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin

log = logging.getLogger(__name__)

_ID = re.compile(r"[0-9a-f]{8}")
_FILE = 2 * 1024**3
_ATTACHMENT = 100 * 1024**2
_PART = 4 * 1024 * 1024
_STATE = 20
_JOURNAL = "JournalInterface"

BringSuggestion = Callable[[dict[str, Any], bool], Awaitable[bool]]
"""Stores a suggestion that came with an archive, or in a dry run only looks: whether it was not there. Errors: InvalidInput, Conflict."""

Document = dict[str, Any]


class Imports:
    """Answers `self.core.sessions` of modules that may create sessions: each is sandboxed, and nothing is replaced.

    A module brings something only as part of an import that a person's request has begun, and until it ends.
    """

    def __init__(
        self,
        attached: AttachedFiles,
        sessions: ImportedSessions,
        audit: Audit,
        bring: BringSuggestion,
        lineage: Lineage,
        requests: Requests,
        interfaces: Interfaces,
    ) -> None:
        self._folders = attached.folders
        self._attached = attached
        self._sessions = sessions
        self._audit = audit
        self._bring = bring
        self._lineage = lineage
        self._requests = requests
        call, tell = partial(interfaces.call_for_core, _JOURNAL), partial(interfaces.tell, _JOURNAL)
        self._entries = ImportedEntries(attached.folders, call, tell, lineage)
        self._growing = Growing(attached, sessions)
        self._under_way: dict[str, Import] = {}
        self._placing = asyncio.Lock()
        self._cleaning: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Remove in the background what imports have left that were under way when the computer ended."""
        self._cleaning = asyncio.create_task(self._clean(), name="imports that were interrupted")

    async def close(self) -> None:
        """End the removal."""
        if self._cleaning is not None:
            self._cleaning.cancel()
            await asyncio.gather(self._cleaning, return_exceptions=True)

    async def answer(self, module: ApprovedModule, what: str, document: Document) -> Document:
        """One question of a module; errors: NotAllowed, NotFound, Conflict, InvalidInput, DiskFull."""
        _check(module)
        if self._cleaning is not None:
            await asyncio.wait({self._cleaning})
        try:
            match what:
                case "list":
                    return {"imports": await self._list(module.name, is_first=document.get("first") is True)}
                case "ids":
                    return {"ids": await self._sessions.ids()}
                case "fingerprints":
                    return {"fingerprints": await self._sessions.fingerprints()}
                case "begin":
                    return await self._begin(module.name, document)
                case "forget":
                    return await self._forget(module.name, document)
            found = self._get(module.name, document.get("import"))
            match what:
                case "entries":
                    entries, only_looking = entries_of(document.get("entries")), document.get("only_looking") is True
                    return {"outcomes": await _to_its_end(self._entries.add(found, entries, only_looking=only_looking))}
                case "suggestion":
                    return {"outcome": await self._suggestion(found, object_field(document, "suggestion"))}
                case "brought":
                    return {"brought": to_builtins(await self._sessions.brought(text_field(document, "session")))}
                case "undo":
                    return await self._undo(found)
                case "keep":
                    await self._keep(found, object_field(document, "record"))
                    return {}
                case "end":
                    return await self._end(found, object_field(document, "record"))
        except (OSError, sqlite3.Error) as error:
            raise disk_error(error) or _failed(error) from error
        raise NotFound(f"There is nothing to ask of sessions called {what[:40]!r}.", key="unknown_question")

    async def take(
        self, module: ApprovedModule, what: str, query: Mapping[str, Sequence[str]], body: AsyncIterator[bytes]
    ) -> Document:
        """Place what a module sends, `conversations`, an `attachment` of one that comes next, or a `file`; errors: NotAllowed, NotFound, InvalidInput, DiskFull."""
        _check(module)
        found = self._get(module.name, query.get("import", [""])[-1])
        try:
            match what:
                case "conversations":
                    return await self._conversations(found, body)
                case "attachment":
                    return await self._attachment(found, query, body)
                case "file":
                    return await self._file(found, query, body)
        except (OSError, sqlite3.Error) as error:
            raise disk_error(error) or _failed(error) from error
        raise NotFound(f"Nothing called {what[:40]!r} can be sent.", key="unknown_question")

    async def _list(self, module: str, *, is_first: bool) -> list[Record]:
        if is_first:  # another process of the module was at work on these, and has ended
            for each in [each for each in self._under_way.values() if each.module == module]:
                del self._under_way[each.id]
            await self._clean()
        return [each for each in (await asyncio.to_thread(self._folders.load)).values() if _owner(each) == module]

    async def _begin(self, module: str, document: Document) -> Document:
        asking = self._requests.get(module, text_field(document, "request"))
        record = _record(document)
        size = document.get("size")
        if not _ID.fullmatch(record["id"]):
            raise InvalidInput("id: eight hexadecimal digits are expected.", key="import_id_malformed")
        if record["id"] in self._under_way:
            raise Conflict("This import is running.", "Wait for its end, or cancel it.", key="import_under_way")
        await self._check_owner(module, record["id"])
        await asyncio.to_thread(self._folders.check_room, size if isinstance(size, int) and size > 0 else 0)
        found = Import.begun(record["id"], text_field(record, "name"), asking)
        self._under_way[found.id] = found
        try:
            await asyncio.to_thread(self._folders.make, found.id)
            await self._keep(found, {**record, "name": found.name})
        except BaseException:
            del self._under_way[found.id]
            raise
        return {"name": found.name}

    async def _keep(self, found: Import, record: Record) -> None:
        await asyncio.to_thread(self._folders.store, {**record, "id": found.id, "module": found.module})

    async def _forget(self, module: str, document: Document) -> Document:
        """Forget an import that is over, at a person's request, or one that the module has begun."""
        import_id = text_field(document, "import")
        if (found := self._under_way.get(import_id)) is not None and found.module == module:
            del self._under_way[import_id]
        elif not self._requests.get(module, text_field(document, "request")).by_owner:
            raise NotAllowed("This needs the owner.", key="not_owner")
        if _ID.fullmatch(import_id):
            await self._check_owner(module, import_id)
            await asyncio.to_thread(self._folders.remove, import_id)
        return {}

    async def _conversations(self, found: Import, body: AsyncIterator[bytes]) -> Document:
        if found.is_dry:
            raise NotAllowed("This import only counts.", key="dry_run")
        arriving = Arriving(self._folders, found)
        try:
            async for part in body:
                await asyncio.to_thread(arriving.take, part)
            await asyncio.to_thread(arriving.end)
            return {"added": await _to_its_end(self._add(found, arriving))}
        finally:
            await asyncio.to_thread(arriving.clear)
            await asyncio.to_thread(self._attached.drop, found.id, [each.id for each in arriving.sessions])

    async def _attachment(
        self, found: Import, query: Mapping[str, Sequence[str]], body: AsyncIterator[bytes]
    ) -> Document:
        if found.is_dry:
            raise NotAllowed("This import only counts.", key="dry_run")
        session, name = (query.get(each, [""])[-1] for each in ("session", "name"))
        check_attachment(session, name)
        found.staged += 1
        number = found.staged
        try:
            await self._received(found, number, body, _ATTACHMENT)
            await asyncio.to_thread(self._attached.stage, found, session, name, number)
        except BaseException:
            await asyncio.to_thread(self._folders.unstage, found.id, number)
            raise
        return {}

    async def _add(self, found: Import, arriving: Arriving) -> list[str]:
        async with self._placing:
            here = {each.id for each in arriving.sessions if await self._sessions.sessions.find(each.id) is not None}
            new = [each for each in arriving.sessions if each.id not in here]
            try:
                await asyncio.to_thread(self._place, found, arriving, new)
                added = await self._sessions.add(new)
            except BaseException:
                for each in new:
                    await asyncio.to_thread(self._remove, each.id)
                raise
            return added + await self._growing.grow(found.id, arriving, here)

    def _place(self, found: Import, arriving: Arriving, new: Sequence[Session]) -> None:
        self._folders.check_room()
        for each in new:
            if each.id in arriving.staged:
                self._folders.place_transcript(found.id, arriving.staged[each.id], each.id)
            self._attached.place(found.id, each.id)
        self._folders.sync_transcripts()

    def _remove(self, session: str) -> None:
        """Remove what was placed of a session that was not stored."""
        self._folders.remove_transcript(session)
        self._attached.remove(session)

    async def _file(self, found: Import, query: Mapping[str, Sequence[str]], body: AsyncIterator[bytes]) -> Document:
        try:
            parts = query.get("part", [])
            target = found.place_of_media(query["date"][-1], "/".join(parts)) if "date" in query else found.place(parts)
        except LeftOut as left_out:
            return {"outcome": left_out.outcome, "path": ""}
        if found.is_dry and not found.is_own:
            return {"outcome": "new", "path": target}
        found.staged += 1
        number, time = found.staged, _time(query)
        try:
            content = await self._received(found, number, body)
            placed = await _to_its_end(self._place_file(found, number, target, time, content))
        finally:
            await asyncio.to_thread(self._folders.unstage, found.id, number)
        return {"outcome": "new" if placed else "same" if placed is None else "different_files", "path": target}

    async def _received(self, found: Import, number: int, body: AsyncIterator[bytes], limit: int = _FILE) -> Content:
        """Write what comes in large pieces, as long as there is room; in a dry run only look what it is."""
        digest, size, held = hashlib.sha256(), 0, bytearray()
        file = None if found.is_dry else await asyncio.to_thread(self._folders.stage, found.id, number)
        with file or contextlib.nullcontext():
            async for part in body:
                digest.update(part)
                size += len(part)
                held += part
                if size > limit:
                    raise InvalidInput(f"A file has at most {limit // 1024**2:,} MB.", key="file_too_large")
                if len(held) >= _PART:
                    if file is not None:
                        await asyncio.to_thread(self._folders.check_room)
                        await asyncio.to_thread(file.write, bytes(held))
                    held.clear()
            if file is not None:
                await asyncio.to_thread(_finish, file, bytes(held))
        return digest.hexdigest(), size

    async def _place_file(
        self, found: Import, number: int, target: str, time: str | None, content: Content
    ) -> bool | None:
        try:
            there = await asyncio.to_thread(self._folders.compare, target, content[0])
            if found.is_dry or there is not True:
                return there
            # Noted first; what is there already stays what it was.
            await self._lineage.wrote(self._folders.vault / target, [""], Origin.IMPORT, [content])
            return await asyncio.to_thread(self._folders.place_file, found.id, number, target, time)
        except (OSError, InvalidInput) as error:
            if isinstance(error, OSError) and error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR):
                raise
            return False  # a link is in its place, a file in that of a folder, or the other way round

    async def _suggestion(self, found: Import, suggestion: dict[str, Any]) -> str:
        if not found.is_own:
            raise NotAllowed("Suggestions come only with an archive of the owner's own.", key="not_own_archive")
        try:
            return "new" if await self._bring(suggestion, found.is_dry) else "same"
        except InvalidInput:
            return "malformed"
        except Conflict:
            return "too_many_waiting"

    async def _undo(self, found: Import) -> Document:
        """Remove what an import brought and nobody has changed since; the rest stays, and is named."""
        if not found.takes_files:
            raise NotAllowed("This needs the owner.", key="not_owner")
        kept, removed = [], 0
        for session in await self._sessions.brought_by(found.id):
            if await self._sessions.is_as_brought(session):
                with contextlib.suppress(ParachuteError):  # somebody has deleted it meanwhile
                    await self._sessions.sessions.delete(session.id)
                    removed += 1
            else:
                kept.append(session.title or session.id)
        shrunk, gone_on = await self._growing.take_back(found.id)
        kept += gone_on
        entries, changed = await self._entries.take_back(found.id) if await self._entries.count(found.id) else (0, [])
        kept += changed
        shown = await self._entries.media_of(changed)
        for placed in await asyncio.to_thread(lambda: list(self._folders.files(found.id))):
            # What an entry shows that stays, stays with it.
            if placed[0].removeprefix("Daily/") in shown or not await asyncio.to_thread(
                self._folders.take_back, placed
            ):
                kept.append(placed[0])
        return {"removed": removed, "shrunk": shrunk, "entries": entries, "kept": kept}

    async def _end(self, found: Import, record: Record) -> Document:
        del self._under_way[found.id]
        errors = record.get("errors")
        state, kind = (str(record.get(name) or "unknown")[:_STATE] for name in ("state", "kind"))
        self._audit.append(
            event_type="import",
            source_type="user",
            source_id=found.by,
            target_module=found.module,
            target_endpoint=f"{state} {kind} {found.id}: {_brought(record)}",
            success=state != "failed",
            error="; ".join(map(str, errors)) if isinstance(errors, list) and errors else None,
        )
        await asyncio.to_thread(self._settle, {**record, "id": found.id, "module": found.module})
        return {}

    async def _check_owner(self, module: str, import_id: str) -> None:
        there = (await asyncio.to_thread(self._folders.load)).get(import_id)
        if there is not None and _owner(there) != module:
            raise NotAllowed("This import is another module's.", key="import_of_another")

    def _settle(self, record: Record) -> None:
        self._attached.forget(record["id"])
        with contextlib.suppress(OSError):  # the next start clears it
            self._folders.clear(record["id"])
            self._folders.store(record)

    def _get(self, module: str, import_id: object) -> Import:
        found = self._under_way.get(import_id) if isinstance(import_id, str) else None
        if found is None or found.module != module:
            raise NotFound("This import is not running.", "Begin it at a person's request.", key="import_not_begun")
        return found

    async def _clean(self) -> None:
        try:
            async with self._placing:
                left = await asyncio.to_thread(self._folders.unfinished)
                if left := [each for each in left if each not in self._under_way]:
                    await self._remove_left(left)
        except (ParachuteError, OSError, sqlite3.Error):
            log.warning("What interrupted imports have left could not be removed.", exc_info=True)

    async def _remove_left(self, left: Sequence[str]) -> None:
        records = await asyncio.to_thread(self._folders.load)
        began = min((str(records[each].get("started_at")) for each in left if each in records), default=now())
        # What was placed and not stored: half of a conversation would be there. What is older has lost its list.
        here = set(await self._sessions.ids())
        for session in await asyncio.to_thread(self._folders.placed_since, began):
            if session not in here:
                await asyncio.to_thread(self._remove, session)
        for import_id in left:
            grown = await self._growing.settle(import_id)
            record = records.get(import_id)
            if record is None or record.get("state") == "receiving":
                await asyncio.to_thread(self._folders.remove, import_id)
                continue
            # Counted anew: how far it was nobody has written down.
            record["imported"] = len(await self._sessions.brought_by(import_id))
            record["grown"] = grown
            record["entries_imported"] = await self._entries.count(import_id)
            record["files_imported"] = len(await asyncio.to_thread(list, self._folders.files(import_id)))
            record["state"], record["ended_at"] = "interrupted", now()
            await asyncio.to_thread(self._settle, record)


def _check(module: ApprovedModule) -> None:
    if module.manifest.permissions.sessions != "create":
        raise NotAllowed(
            f"The manifest of {module.name} does not say that it may create sessions.",
            "Write `sessions: create` under permissions; the user sees it before installing.",
            key="sessions_not_permitted",
        )


def _owner(record: Record) -> object:
    # Before modules did it the computer itself imported, and what it kept is for its own module.
    return record.get("module", "imports")


def _record(document: Document) -> Record:
    record = object_field(document, "record")
    return {**record, "id": text_field(record, "id")}


def _brought(record: Record) -> str:
    entries = record.get("entries_imported")
    return f"{record.get('imported')} conversations" + (f", {entries} entries" if entries else "")


def _failed(error: Exception) -> ParachuteError:
    return Conflict(f"It could not be installed: {error}.", key="not_placed")


def _finish(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _time(query: Mapping[str, Sequence[str]]) -> str | None:
    time = query.get("time", [None])[-1]
    try:
        return time and datetime.fromisoformat(time).isoformat()
    except ValueError as error:
        raise InvalidInput("time: ISO 8601 is expected.", key="time_malformed") from error


async def _to_its_end(work: Coroutine[Any, Any, Any]) -> Any:
    """Wait for one step, also if the module leaves meanwhile: a thread goes on, and would place what nobody knows of."""
    step = asyncio.create_task(work)
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        await asyncio.gather(step, return_exceptions=True)
        raise
