"""Entries of the journal that imports bring: the module that provides the journal writes them, and what came is listed here."""

import asyncio
import contextlib
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from parachute.base.errors import InvalidInput, NotAllowed
from parachute.base.folders import Folder
from parachute.changes.contents import Content, content_of
from parachute.changes.lineage import Lineage
from parachute.chat.imports.folders import ImportFolders
from parachute.chat.imports.models import Import
from parachute.security.origin import Origin

_LIST = "entries.jsonl"
_LINE = 64 * 1024
_AT_ONCE = 200
_SECONDS = 120.0
_DAYS = "Daily/journals"
_LARGEST = 8 * 1024 * 1024

CallJournal = Callable[[str, dict[str, Any], float], Awaitable[Any]]
"""Calls a method of the journal; errors: Unavailable, and what it answers."""

TellJournal = Callable[[Origin], Awaitable[None]]
"""Notes the origin of what the journal is about to be told."""


class ImportedEntries:
    """Writes entries, and takes them back; of each its id and the version that came are noted."""

    def __init__(self, folders: ImportFolders, call: CallJournal, tell: TellJournal, lineage: Lineage) -> None:
        self._folders = folders
        self._call = call
        self._tell = tell
        self._lineage = lineage

    async def add(self, found: Import, entries: Sequence[dict[str, Any]], *, only_looking: bool) -> list[str]:
        """Write entries; what became of each. Errors: NotAllowed, InvalidInput, Unavailable without a journal."""
        if not found.takes_files:
            raise NotAllowed("Bringing entries into the journal needs the owner.", key="not_owner")
        placed = await self._ask(entries, True)
        if not (only_looking or found.is_dry):
            new = [(each, what) for each, what in zip(entries, placed, strict=True) if what["outcome"] == "new"]
            # Noted first, with what comes: an undo knows what was written, and what somebody has changed since, also after a crash.
            await asyncio.to_thread(self._note, found.id, {str(each["id"]): str(what["version"]) for each, what in new})
            dates = sorted({str(each["date"]) for each, _ in new})
            if dates:
                # Whoever asks the journal later hears words of others, whatever it makes of them.
                await self._tell(Origin.IMPORT)
            for date in dates:
                await self._lineage.wrote(self._folders.vault / f"{_DAYS}/{date}.md", [""], Origin.IMPORT)
            placed = await self._ask(entries, False)
            for path, content in await asyncio.to_thread(self._written, dates):
                await self._lineage.wrote(self._folders.vault / path, [""], Origin.IMPORT, [content])
        return [str(each["outcome"]) for each in placed]

    async def take_back(self, import_id: str) -> tuple[int, list[str]]:
        """Take out entries that are as they came; how many are gone, and the ids of those that stay."""
        versions = await asyncio.to_thread(self._noted, import_id)
        ids, kept = list(versions), list[str]()
        for start in range(0, len(ids), _AT_ONCE):
            asked = {each: versions[each] for each in ids[start : start + _AT_ONCE]}
            kept += map(str, await self._call("take_back", {"versions": asked}, _SECONDS))
        return len(ids) - len(kept), kept

    async def media_of(self, entries: Sequence[str]) -> str:
        """The texts of some entries, which say what files they show."""
        texts = list[str]()
        for each in entries:
            if (found := await self._call("get", {"entry_id": each}, _SECONDS)) is not None:
                texts += [str(found.get("content") or ""), str(found.get("audio_path") or "")]
        return "\n".join(texts)

    async def count(self, import_id: str) -> int:
        """The number of entries that an import has brought."""
        return len(await asyncio.to_thread(self._noted, import_id))

    async def _ask(self, entries: Sequence[dict[str, Any]], only_looking: bool) -> list[Mapping[str, Any]]:
        asked = {"entries": list(entries), "only_looking": only_looking}
        return list(await self._call("bring", asked, _SECONDS))

    def _written(self, dates: Sequence[str]) -> list[tuple[str, Content]]:
        """The files of days with what is in them: whoever renames or copies one has it from elsewhere, too."""
        found = list[tuple[str, Content]]()
        with contextlib.suppress(OSError), Folder.open(self._folders.vault / _DAYS) as folder:
            names = [each.name for each in folder.entries() if each.name[:10] in dates and each.name.endswith(".md")]
            for name in names:
                with contextlib.suppress(OSError, InvalidInput):
                    found.append((f"{_DAYS}/{name}", content_of(folder.read(name, _LARGEST))))
        return found

    def _note(self, import_id: str, versions: Mapping[str, str]) -> None:
        if not versions:
            return
        with Folder.open(self._folders.root) as root:
            descriptor = root.descriptor(f"{import_id}/{_LIST}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(descriptor, "ab") as file:
            file.write(b"".join(json.dumps(each).encode() + b"\n" for each in versions.items()))
            file.flush()
            os.fsync(file.fileno())

    def _noted(self, import_id: str) -> dict[str, str]:
        found: dict[str, str] = {}
        with (
            contextlib.suppress(FileNotFoundError),
            Folder.open(self._folders.root) as root,
            root.file(f"{import_id}/{_LIST}") as file,
        ):
            while line := file.readline(_LINE):
                with contextlib.suppress(ValueError, TypeError):
                    entry, version = json.loads(line)
                    found[str(entry)] = str(version)
        return found


def entries_of(value: object) -> list[dict[str, Any]]:
    """The entries in a request of a module; error: InvalidInput."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise InvalidInput("entries: a list of objects is expected.", key="entries_malformed")
    return value
