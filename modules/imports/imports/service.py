"""Imports: receiving exports, running one after the other, cancelling and undoing them."""

import asyncio
import contextlib
import datetime
import logging
import secrets
import shutil
from collections.abc import AsyncIterator, Coroutine
from dataclasses import asdict, replace
from typing import Any

from imports.looked import Looked
from imports.records import KINDS, Import, State
from imports.running import Running
from imports.upload import Upload
from parachute.core import Conflict, InvalidInput, NotFound, ParachuteError, Request, disk_error
from parachute.core.services import Core

log = logging.getLogger("parachute.module")

_WAITING = 8
_QUIET_SECONDS = 15.0
_STEP_SECONDS = 0.1


class Imports:
    """Runs imports; one at a time, since each may take everything that the disk gives."""

    def __init__(self, core: Core) -> None:
        self._busy = core.busy
        self._sessions = core.sessions
        self._folder = core.data / "uploads"
        self._looked = Looked()
        self._one = asyncio.Lock()
        self._loading = asyncio.Lock()
        self._is_first = True
        self._records: dict[str, Import] | None = None
        self._running: dict[str, Running] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Remove what imports have left that were under way when an earlier process ended."""
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        with contextlib.suppress(ParachuteError):  # the first request asks again
            await self._known()

    async def close(self) -> None:
        """End what runs; what it has brought until now stays."""
        self._looked.close()
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def all(self) -> list[Import]:
        """All imports, the newest first."""
        return sorted((await self._known()).values(), key=lambda each: each.started_at, reverse=True)

    async def get(self, import_id: str) -> Import:
        """One import; error: NotFound."""
        found = (await self._known()).get(import_id)
        if found is None:
            raise NotFound(
                f"There is no import {import_id[:40]!r}.", "`parachute import list` shows all.", key="no_import"
            )
        return found

    async def receive(
        self, request: Request, *, kind: str, name: str, dry_run: bool = False, archived: bool = False, look: str = ""
    ) -> Import:
        """Store an export as it comes, or take that of a `look`, a dry run, and begin to import it.

        Of earlier dry runs nothing is left then. Errors: InvalidInput, Conflict, NotFound, DiskFull, OSError.
        """
        if kind not in ("auto", *KINDS):
            raise InvalidInput(f"kind: expected one of auto, {', '.join(KINDS)}.", key="unknown_kind")
        records = await self._known()
        if sum(not each.is_finished for each in records.values()) >= _WAITING:
            raise Conflict(
                "Too many imports are waiting already.", "Import this one when they are done.", key="imports_busy"
            )
        record = Import(secrets.token_hex(4), name, None, _now(), dry_run=dry_run, archived=archived)
        upload = self._looked.take(look) if look else Upload(self._folder / record.id)
        announced = request.headers.get("content-length", "0")
        size = int(announced) if announced.isdecimal() else 0
        try:
            await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
            if look:
                # Half of what it takes is here.
                size = await asyncio.to_thread(lambda: upload.size) // 2
            else:
                await asyncio.to_thread(upload.check_room, size)
            record.name = await self._sessions.begin(request, asdict(record), size)
            records[record.id] = record
            await self._forget_looks(request)
            if not look:
                with self._busy():
                    await upload.receive(request.stream())
        except BaseException:
            records.pop(record.id, None)
            await asyncio.shield(self._drop(record.id, upload))
            raise
        running = Running(record, upload, self._sessions)
        self._begin(running, "waiting", self._import(running, kind))
        return record

    async def finished(self, import_id: str) -> tuple[Import, list[str]]:
        """Wait for the end of an import; it and the sessions that it brought or found here."""
        running, task = self._running.get(import_id), self._tasks.get(import_id)
        if task is not None:
            await asyncio.wait({task})
        return running.record if running else await self.get(import_id), running.sessions_here if running else []

    async def follow(self, record: Import) -> AsyncIterator[dict[str, Any]]:
        """An import each time it has changed, and now and then while it does not, until it is finished."""
        while True:
            running = self._running.get(record.id)
            changed = running.change if running else None
            # Asked before it is sent: it may end meanwhile, and the last state is to be seen, too.
            is_over = record.is_finished or changed is None
            yield {"type": "import", **record.shown()}
            if is_over or changed is None:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_QUIET_SECONDS):
                    await changed.wait()
            await asyncio.sleep(_STEP_SECONDS)  # conversations come by the hundred

    async def cancel(self, import_id: str, request: Request) -> Import:
        """Stop an import; what it has brought until now stays. One that is over is forgotten with its record."""
        record = await self.get(import_id)
        if (task := self._tasks.get(import_id)) is not None:
            task.cancel()
            await asyncio.wait({task})
            return record
        if not record.is_finished:
            raise Conflict("The export is still being received.", "End the upload.", key="import_receiving")
        await self._forget(import_id, request)
        return record

    async def _forget(self, import_id: str, request: Request) -> None:
        await self._sessions.forget(import_id, request)
        (await self._known()).pop(import_id, None)
        await self._looked.drop(import_id)

    async def _forget_looks(self, request: Request) -> None:
        for each in [each for each in (await self._known()).values() if each.dry_run and each.is_finished]:
            with contextlib.suppress(ParachuteError):  # the next one does
                await self._forget(each.id, request)

    async def undo(self, import_id: str, request: Request) -> Import:
        """Begin to remove what an import brought, as far as nobody has gone on with it; errors: NotFound, Conflict."""
        record = await self.get(import_id)
        if not record.is_finished or record.dry_run:
            reason = "has brought nothing" if record.dry_run else "is under way"
            raise Conflict(
                f"This import {reason}.", "Cancel it first." if not record.dry_run else None, key="import_not_undone"
            )
        await self._sessions.begin(request, asdict(record))
        running = Running(record, Upload(self._folder / import_id), self._sessions)
        self._begin(running, "undoing", self._undo(running))
        return record

    def _begin(self, running: Running, state: State, work: Coroutine[Any, Any, State]) -> None:
        record = running.record
        record.state = state
        self._running[record.id] = running
        self._tasks[record.id] = asyncio.create_task(self._finish(running, work), name=f"import {record.id}")

    async def _import(self, running: Running, kind: str) -> State:
        record = running.record
        async with self._one:
            record.state = "running"
            await self._sessions.keep(record.id, asdict(record))
            running.announce()
            await running.run(kind)
        if record.errors:
            return "failed"
        record.progress = 1.0
        return "done"

    async def _undo(self, running: Running) -> State:
        async with self._one:
            removed, shrunk, entries, running.record.kept = await self._sessions.undo(running.record.id)
            running.record.imported -= removed
            running.record.entries_imported -= entries
            running.record.grown -= shrunk
        return "undone"

    async def _finish(self, running: Running, work: Coroutine[Any, Any, State]) -> None:
        record = running.record
        state: State = "done" if record.state == "undoing" else "cancelled"
        with self._busy():
            try:
                state = await work
            except asyncio.CancelledError:
                work.close()
            except (ParachuteError, OSError) as error:
                problem = disk_error(error) or error
                record.fail(str(problem))
                # Where the server has gone, it counts what came when it is back.
                state = "interrupted" if _has_gone(problem) else "failed"
            except Exception:
                log.exception("The import %s has failed.", record.id)
                record.fail("Something unexpected happened; `parachute logs imports` shows it.")
                state = "failed"
            record.ended_at = _now()
            try:
                await asyncio.shield(self._settle(running, replace(record, state=state)))
            finally:
                # From now on it can be undone, or forgotten.
                record.state = state
                self._tasks.pop(record.id, None)
                self._running.pop(record.id).announce()
                if state == "interrupted":
                    self._records = None

    async def _settle(self, running: Running, record: Import) -> None:
        if record.dry_run and record.state == "done":
            await self._looked.keep(record.id, running.upload)
        else:
            await asyncio.to_thread(running.upload.remove)
        try:
            await self._sessions.end(record.id, asdict(record))
        except ParachuteError as error:
            log.warning("The end of the import %s was not kept: %s", record.id, error)

    async def _drop(self, import_id: str, upload: Upload) -> None:
        await asyncio.to_thread(upload.remove)
        with contextlib.suppress(ParachuteError):
            await self._sessions.forget(import_id)

    async def _known(self) -> dict[str, Import]:
        async with self._loading:
            if self._records is None:
                found = await self._sessions.records(first=self._is_first)
                self._is_first, self._records = False, {}
                for each in found:
                    with contextlib.suppress(InvalidInput):  # written by somebody else
                        record = Import.load(each)
                        self._records[record.id] = record
            return self._records


def _has_gone(error: Exception) -> bool:
    """Return whether the server ended meanwhile: it does not answer, or has begun anew and knows nothing of the import."""
    return isinstance(error, ParachuteError) and error.key in ("core_gone", "import_not_begun")


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
