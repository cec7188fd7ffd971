"""Approved suggestions, each applied at most once, whatever the server remembers of it."""

import asyncio
import json
import logging
import re
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from parachute.base.errors import Conflict, InvalidInput, ParachuteError, Unavailable
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.core.application import Application
from parachute.core.values import encode
from parachute.modules.host_process.kept_changes import KeptChanges, shown

log = logging.getLogger("parachute.module")

_FOLDER = "approved-changes"
_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,79}")
_RESULT_LIMIT = 64 * 1024
_FILE_LIMIT = 2 * _RESULT_LIMIT
_MOST = 500
"""Tries that are remembered; core asks only about the newest."""

_BEGUN, _APPLIED, _WITHDRAWN, _UNDONE = "begun", "applied", "withdrawn", "undone"

Record = dict[str, Any]


class ApprovedChanges:
    """Remembers in the module's own data what was begun and what was applied, before and after it calls the module.

    A try that had begun when this process was killed is neither repeated nor reported as undone, unless the module knows.
    """

    def __init__(self, application: Application) -> None:
        self._application = application
        self._kept = KeptChanges(application, application.module.core.data / _FOLDER)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def answer(self, document: Record) -> Record:
        """Check, show, apply, withdraw or undo a change; errors: InvalidInput, Conflict, Unavailable, and what the module says."""
        if document.get("check") is True:
            await self._application.check_suggestion(_change(document))
            return {"checked": True}
        identifier = document.get("id")
        if not isinstance(identifier, str) or not _ID.fullmatch(identifier):
            raise InvalidInput("id: the id of a suggestion is expected.", key="suggestion_id_missing")
        lock = self._locks.setdefault(identifier, asyncio.Lock())
        async with lock:
            record = await asyncio.to_thread(self._read, identifier)
            if document.get("preview") is True:
                return await self._preview(identifier, record, document)
            if document.get("withdraw") is True:
                return await self._withdraw(identifier, record)
            if document.get("undo") is True:
                return await self._undo(identifier, record)
            return await self._apply(identifier, record, document)

    async def _apply(self, identifier: str, record: Record, document: Record) -> Record:
        if record.get("state") == _APPLIED:
            return {"result": record.get("result")}
        if record:
            raise Conflict(f"The suggestion {identifier} was {record.get('state')} already.", key="already_decided")
        change = _change(document)
        preview = await self._kept.looked(change)
        if preview is not None:
            await asyncio.to_thread(self._kept.keep, identifier, change, preview)
        await asyncio.to_thread(self._store, identifier, {"state": _BEGUN, "change": change})
        try:
            result = await self._application.apply_suggestion(identifier, change)
        except Exception:
            await asyncio.to_thread(self._forget, identifier)
            await asyncio.to_thread(self._kept.forget, identifier)
            raise
        return {"result": await self._applied(identifier, result)}

    async def _applied(self, identifier: str, result: Any) -> Any:
        if len(encode(result)) > _RESULT_LIMIT:
            log.error(
                "What the module returned of a suggestion is longer than %d bytes, and is left out.", _RESULT_LIMIT
            )
            result = None
        try:
            await asyncio.to_thread(self._store, identifier, {"state": _APPLIED, "result": result})
        except Unavailable as error:
            # The change is made: an error would say that it was not.
            log.error("%s", error)
        return result

    async def _withdraw(self, identifier: str, record: Record) -> Record:
        state = record.get("state")
        if state == _APPLIED:
            return {"applied": True, "result": record.get("result")}
        if state == _BEGUN:
            try:
                # A change that cannot be read is none that the module could be asked about.
                is_applied, result = await self._application.applied_suggestion(identifier, record["change"])
            except (ParachuteError, KeyError) as error:
                log.warning("It is unknown whether the suggestion %s was applied: %s", identifier, error)
                return {"applied": None}
            if is_applied:
                return {"applied": True, "result": await self._applied(identifier, result)}
        if state != _WITHDRAWN:
            await asyncio.to_thread(self._store, identifier, {"state": _WITHDRAWN})
        return {"applied": False}

    async def _preview(self, identifier: str, record: Record, document: Record) -> Record:
        """Return the change that was made, or else the one that would be made now."""
        if record.get("state") == _APPLIED:
            kept = await asyncio.to_thread(self._kept.read, identifier)
            return {"preview": kept["preview"] if kept else None}
        preview = await self._kept.preview(_change(document))
        return {"preview": None if preview is None else shown(preview)}

    async def _undo(self, identifier: str, record: Record) -> Record:
        if record.get("state") == _UNDONE:
            return {"undone": True, "version": record.get("version")}
        kept = await asyncio.to_thread(self._kept.read, identifier)
        if record.get("state") != _APPLIED or kept is None or kept["keep"] is None:
            raise Conflict(
                f"{self._application.module.name} kept nothing by which this could be taken back.",
                "Change it back by hand.",
                key="nothing_kept",
            )
        version = await self._application.undo_suggestion(kept["change"], kept["keep"], record.get("result"))
        await asyncio.to_thread(self._store, identifier, {"state": _UNDONE, "version": version})
        return {"undone": True, "version": version}

    def _path(self, identifier: str) -> Path:
        return self._application.module.core.data / _FOLDER / f"{identifier}.json"

    def _read(self, identifier: str) -> Record:
        try:
            record = json.loads(read_regular(self._path(identifier), _FILE_LIMIT))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, InvalidInput):
            # Something is there that cannot be read: it must not be made a second time.
            return {"state": _BEGUN}
        return record if isinstance(record, dict) and "state" in record else {"state": _BEGUN}

    def _store(self, identifier: str, record: Record) -> None:
        path = self._path(identifier)
        try:
            private_folder(path.parent)
            atomic_write(path, encode(record))
            for old in sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)[:-_MOST]:
                old.unlink(missing_ok=True)
        except OSError as error:
            raise Unavailable(
                f"What becomes of the suggestion {identifier} cannot be stored: {error}.", key="change_not_stored"
            ) from error

    def _forget(self, identifier: str) -> None:
        try:
            self._path(identifier).unlink(missing_ok=True)
        except OSError as error:
            log.error("What became of the suggestion %s cannot be stored: %s", identifier, error)


def _change(document: Record) -> Record:
    """The arguments of `apply_suggestion`; error: InvalidInput."""
    action, payload = document.get("action"), document.get("payload")
    target, version = document.get("target_id"), document.get("expected_version")
    if not isinstance(action, str) or not isinstance(payload, dict):
        raise InvalidInput("action, payload: text and an object are expected.", key="change_invalid")
    if not isinstance(target, str | None) or not isinstance(version, str | int | None):
        raise InvalidInput("target_id, expected_version: text or null is expected.", key="change_invalid")
    return {"action": action, "target_id": target, "payload": payload, "expected_version": version}
