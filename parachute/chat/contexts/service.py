"""Contexts: the folders that there are, what was chosen for a session, and the chain of files that follows."""

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from parachute.base.errors import Conflict, InvalidInput, NotFound
from parachute.base.folders import Folder
from parachute.chat.contexts.chains import read_chain
from parachute.chat.contexts.models import NAMES, Chain, ContextFile, Found
from parachute.chat.contexts.paths import MOST, exists, is_text_file, place_of, places_of, split
from parachute.chat.contexts.reading import Reader
from parachute.chat.contexts.store import SelectionStore
from parachute.config.vault.service import Vault
from parachute.security.approved_prompts import shown_name

if TYPE_CHECKING:
    from parachute.chat.contexts.discovery import FolderList


class WrittenByAgents(Protocol):
    """Knows which files hold what an agent wrote and the owner has not seen."""

    async def written_by_runs(self, files: Sequence[Path]) -> set[tuple[Path, str]]:
        """Return the contents of these files that are an agent's, as (file, hash)."""

    async def are_told(self, files: Sequence[Path]) -> None:
        """Agents are told these files from now on, whatever they are called."""

    async def seen(self, file: Path) -> None:
        """The owner has seen a file as it is."""


class Contexts:
    """All contexts; `is_approved` says whether a file, by its name and text, may steer what runs with the owner's rights."""

    def __init__(
        self,
        vault: Vault,
        store: SelectionStore,
        agents: WrittenByAgents,
        is_approved: Callable[[str, str], bool] = lambda name, text: False,
    ) -> None:
        self._vault = vault
        self._store = store
        self._agents = agents
        self._is_approved = is_approved
        self._reader = Reader()
        self._searching = asyncio.Lock()

    async def folders(self) -> "FolderList":
        """Every folder of the vault with a context, one search at a time; errors: OSError."""
        from parachute.chat.contexts.discovery import find_folders  # not for the start of the server

        async with self._searching:
            found = await asyncio.to_thread(find_folders, self._vault.root)
        root = self._vault.root.resolve()
        marked = {file for file, _ in await self._agents.written_by_runs([root / each.file for each in found.folders])}
        if not marked:
            return found
        changed = await self._mark(
            await asyncio.to_thread(
                self._read_each, [each.path for each in found.folders if root / each.file in marked]
            )
        )
        paths = {each.path for each in changed if each.is_by_agent}
        folders = tuple(replace(each, is_by_agent=each.file in paths) for each in found.folders)
        return replace(found, folders=folders)

    async def chain(
        self, selected: Sequence[str], directory: Path | None = None, *, approved_only: bool = False
    ) -> Chain:
        """The files of chosen places and of a working directory; `approved_only` for what runs with the owner's rights."""
        is_approved = self._is_approved if approved_only else None
        found = await asyncio.to_thread(read_chain, self._vault, self._reader, selected, directory, is_approved)
        if brought := [each.real for each in found.files if each.brought_by]:
            await self._agents.are_told(brought)
        return replace(found, files=tuple(await self._mark(found.files)))

    async def selected(self, session: str) -> list[str]:
        """The places that were chosen for a session."""
        return await self._store.of(session)

    async def select(self, session: str, texts: Sequence[str]) -> list[str]:
        """Choose places for a session, and no others; errors: InvalidInput, NotFound, and then nothing has changed."""
        places = places_of(self._vault, texts)
        if not await self._store.replace(session, places):
            raise NotFound(f"There is no session {session[:64]!r}.", key="session_not_found")
        return places

    async def add(self, session: str, texts: Sequence[str]) -> None:
        """Choose further places, as a message names them; what is none is left out."""
        accepted, _ = self.sorted_out(texts)
        before = await self._store.of(session)
        places = list(dict.fromkeys((*before, *accepted)))[:MOST]
        if places != before:
            await self._store.replace(session, places)

    def sorted_out(self, texts: Sequence[str]) -> tuple[list[str], list[str]]:
        """The places that texts name, and a sentence for each that names none."""
        accepted, refused = list[str](), list[str]()
        for text in texts:
            try:
                accepted.append(place_of(self._vault, text))
            except InvalidInput as error:
                refused.append(error.message)
        return [each for each in dict.fromkeys(accepted) if each], refused

    async def split(self, *texts: str) -> list[str]:
        """The places in a list with commas; of several readings of one, that of which most places are there."""

        def read() -> list[str]:
            there = cache(partial(exists, self._vault))
            return max((split(text, there) for text in dict.fromkeys(texts)), key=lambda found: sum(map(there, found)))

        return await asyncio.to_thread(read)

    def checked(self, texts: Sequence[str]) -> list[str]:
        """The places that texts name; error: InvalidInput for one that names none."""
        return places_of(self._vault, texts)

    async def seen(self, path: str, digest: str) -> str:
        """The owner has seen a file, which had this hash; the name of the file. Errors: NotFound, Conflict, InvalidInput."""
        file = await asyncio.to_thread(self._read_named, path)
        if not file.hash:
            raise NotFound(f"There is no {' or '.join(NAMES)} in {path[:200] or 'the vault'}.", key="no_context")
        if file.hash != digest:
            raise Conflict(f"{file.path} has changed meanwhile.", "Check it again.", key="changed")
        await self._agents.seen(file.real)
        return file.path

    async def _mark(self, files: Sequence[ContextFile]) -> list[ContextFile]:
        """Mark what an agent wrote; what the owner has approved they have seen."""
        read = [each.real for each in files if each.hash]
        found = await self._agents.written_by_runs(read) if read else set()
        if not found:
            return list(files)
        unseen = {each.real for each in files if not await self._is_seen(each)}
        written = {each.real for each in files if (each.real, each.hash) in found} & unseen
        read_here, of_owner = {each.real for each in files}, set[Path]()

        def is_of_owner(file: ContextFile) -> bool:
            # What only agents have a file import is no word of the owner either.
            above = file.brought_by
            return file.real not in written and (not above or any(e in of_owner or e not in read_here for e in above))

        while new := {each.real for each in files if each.real not in of_owner and is_of_owner(each)}:
            of_owner |= new
        return [dataclasses.replace(e, is_by_agent=e.real in unseen and e.real not in of_owner) for e in files]

    async def _is_seen(self, file: ContextFile) -> bool:
        name = shown_name(self._vault.root, file.real)
        return file.words is not None and await asyncio.to_thread(self._is_approved, name, file.words.text)

    def _read_named(self, path: str) -> ContextFile:
        """Read the file of a folder of the vault, or of one elsewhere by its whole path; error: InvalidInput."""
        named = self._vault.absolute(path)
        is_file = is_text_file(named.name)
        folder = named.parent if is_file else named
        if folder.resolve().is_relative_to(self._vault.root.resolve()) or not Path(path).is_absolute():
            return self._read_each([place_of(self._vault, path)])[0]
        try:
            with Folder.open_unlinked(folder) as top:
                found = (
                    self._reader.file(top, folder, named.name) if is_file else self._reader.in_folder(top, folder, "")
                )
        except OSError:
            found = Found(NAMES[0])
        real = folder / found.path
        return ContextFile(str(real), str(folder), "directory", hash=found.words.hash if found.words else "", real=real)

    def _read_each(self, places: Sequence[str]) -> list[ContextFile]:
        root, files = self._vault.root.resolve(), list[ContextFile]()
        with Folder.open(root) as top:
            for place in places:
                found = self._reader.file(top, root, place) if is_text_file(place) else None
                if found is None or found.problem == "missing":
                    found = self._reader.in_folder(top, root, place)
                digest = found.words.hash if found.words else ""
                files.append(
                    ContextFile(found.path, place, "direct", hash=digest, real=root / found.path, words=found.words)
                )
        return files
