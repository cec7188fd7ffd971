"""Context files as what a suggestion is about: shown before, written so that it can be taken back, and taken back."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from parachute.automation.curator.models import ContextChange
from parachute.automation.curator.store import ReviewStore
from parachute.automation.suggestions.models import Suggestion, Version
from parachute.automation.suggestions.own_targets import OwnTarget
from parachute.automation.suggestions.previews import Previewed, previewed
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.base.folders import Folder
from parachute.changes.blobs import Blobs
from parachute.changes.contents import content_of
from parachute.changes.planning import Change
from parachute.changes.service import Changes
from parachute.chat.contexts.discovery import is_searched
from parachute.chat.contexts.models import LARGEST_FILE
from parachute.chat.contexts.paths import place_of
from parachute.chat.contexts.sections import HEADINGS, has, written
from parachute.chat.contexts.watching import said
from parachute.config.settings.groups.agents import ChangesSettings
from parachute.config.vault.service import Vault
from parachute.core import front_matter
from parachute.files.models import Expected
from parachute.files.planning import writing
from parachute.files.service import CHANGES
from parachute.security.origin import Origin


class _File(NamedTuple):
    data: bytes
    text: str

    @property
    def version(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


class ContextTarget(OwnTarget):
    """The context files of the vault; what is written is one of the changes of files, as those of the owner's devices are."""

    def __init__(self, vault: Vault, changes: Changes, settings: ChangesSettings, reviews: ReviewStore) -> None:
        self._vault = vault
        self._changes = changes
        self._keep = settings.keep_megabytes << 20
        self._reviews = reviews

    async def inspect(self, payload: dict[str, object]) -> tuple[Version | None, str]:
        """The file's version, and its path; errors: InvalidInput, NotFound, Conflict for what changes nothing."""
        change = ContextChange.read(payload)
        file = await asyncio.to_thread(self._read, change.file)
        if _after(file, change) == file.data:
            raise Conflict(f"{change.file} says this already.", key="nothing_changes")
        return file.version, change.file

    async def apply(self, suggestion: Suggestion, payload: dict[str, object], *, by_owner: bool) -> dict[str, object]:
        """Write the file; errors: Conflict when it was changed since, InvalidInput, NotFound."""
        change = ContextChange.read(payload)
        file = await asyncio.to_thread(self._read, change.file)
        if file.version != suggestion.expected_version:
            raise _changed_since(change.file)
        data = _after(file, change)
        digest, root = hashlib.sha256(data).hexdigest(), self._vault.root.resolve()
        body = front_matter.split(data.decode().strip()).body.strip()
        # All of it before the file: whoever reads it then knows whose it is, and what it came from.
        await self._reviews.note_cause(change.file, said(body), change.because)
        origin = suggestion.origin or Origin.IMPORT
        await self._changes.lineage.wrote(root, [change.file], origin, [content_of(data)])
        if not by_owner:
            await self._changes.instructions.note_written(root / change.file, digest)
        number = await self._changes.make(CHANGES, root, _plan(change.file, file.version, data, self._keep))
        return {"file": change.file, "hash": digest, "change": number}

    async def preview(self, suggestion: Suggestion, payload: dict[str, object]) -> Previewed:
        """The file as it is and as it would be, or as it was and became; without either what would be written."""
        change = ContextChange.read(payload)
        try:
            if suggestion.status == "pending":
                file = await asyncio.to_thread(self._read, change.file)
                return previewed(change.file, file.text, _after(file, change).decode())
            if (before := await self._replaced(suggestion)) is not None:
                return previewed(change.file, before.text, _after(before, change).decode())
        except ParachuteError as error:
            return previewed(change.file, None, _listed(change), str(error) if suggestion.status == "pending" else None)
        return previewed(change.file, None, _listed(change))

    async def is_applied(self, payload: dict[str, object]) -> bool:
        """True if the file has all of it."""
        change = ContextChange.read(payload)
        try:
            file = await asyncio.to_thread(self._read, change.file)
        except ParachuteError:
            return False
        return has(file.text, change.contents, change.mark)

    async def undo(self, suggestion: Suggestion) -> Version | None:
        """Put back what was there, to the byte; error: Conflict when the file is not as it was written any more."""
        change = ContextChange.read(suggestion.change)
        result = suggestion.result or {}
        number = result.get("change") or await self._number(change)
        file = await asyncio.to_thread(self._read, change.file)
        if file.version == suggestion.expected_version:
            return file.version  # somebody took it back in another way
        if number is None or (result.get("hash") or file.version) != file.version:
            raise _changed_since(change.file)
        try:
            undone = await self._changes.undo(CHANGES, number)
        except NotFound as error:
            raise Conflict(
                f"What was in {change.file} before is no longer kept.", "Change the file itself.", key="nothing_kept"
            ) from error
        if undone.conflicts:
            raise _changed_since(change.file)
        return (await asyncio.to_thread(self._read, change.file)).version

    async def _number(self, change: ContextChange) -> int | None:
        """The newest change of a file, where a crash has lost the number of the one that was made."""
        for shown in await self._changes.history.of_session(CHANGES):
            if any(entry.path == change.file for entry in shown.entries):
                return shown.found.number
        return None

    async def _replaced(self, suggestion: Suggestion) -> _File | None:
        number = (suggestion.result or {}).get("change")
        for entry in await self._changes.history.entries(number) if number else ():
            if entry.before.hash:
                data = await asyncio.to_thread(self._changes.places.blobs.read, entry.before.hash, LARGEST_FILE)
                return None if data is None else _File(data, data.decode())
        return None

    def _read(self, path: str) -> _File:
        place = place_of(self._vault, path)
        if not is_searched(place):
            raise InvalidInput(f"file: {path[:200]!r} is no place for a context.", key="no_context")
        try:
            with Folder.open(self._vault.root) as top:
                data = top.read(path, LARGEST_FILE)
            return _File(data, data.decode())
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{path} is no text in UTF-8.", key="not_text") from error
        except OSError as error:
            raise NotFound(f"{path[:200]} is gone, or cannot be read.", key="no_context") from error


def _after(file: _File, change: ContextChange) -> bytes:
    return written(file.text, change.contents, change.mark).encode()


def _plan(path: str, version: str, data: bytes, keep: int) -> Callable[[Blobs, Folder], Sequence[Change]]:
    def plan(blobs: Blobs, vault: Folder) -> Sequence[Change]:
        changes = writing(tuple(path.split("/")), blobs.stage(data), Expected(), keep)(blobs, vault)
        if any(each.before.state.hash != version for each in changes):
            for each in changes:
                each.before.drop()
            raise _changed_since(path)
        return changes

    return plan


def _listed(change: ContextChange) -> str:
    return "\n".join(f"## {HEADINGS[name]}\n{content}\n" for name, content in change.contents.items())


def _changed_since(path: str) -> Conflict:
    return Conflict(f"{path} was changed since.", "Reload it and look at the current state.", key="changed_meanwhile")
