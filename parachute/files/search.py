"""Searching the texts of the vault by words and by meaning, in the index's process."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import Literal

from msgspec import field

from parachute.base.answers import Answer
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.config.vault.service import Vault
from parachute.core.front_matter import split
from parachute.core.meaning import ENOUGH, MOST, SURE, merged, worth_showing
from parachute.events.file_watcher.service import VaultWatcher
from parachute.files import texts
from parachute.files.models import modified_text
from parachute.llm.meaning.full_text import FILES, Hit
from parachute.llm.meaning.service import MeaningIndex

log = logging.getLogger(__name__)

_BUSY_SECONDS = 2.0
_AFTER_START_SECONDS, _AFTER_CHANGE_SECONDS = 10.0, 30.0
"""Until the texts are looked through; a change seldom comes alone."""

_FRESH_SECONDS = 3.0
_FIRST_WAIT_SECONDS, _WAIT_SECONDS = 10.0, 1.0
"""Longest waits of the first search, and of a later one, for texts that have changed; the rest is found by the next one."""

_MOST_MISSING = 5_000
_BATCH, _BATCH_SIZE = 100, 1_000_000
_BEGINNING = 200


class FoundFile(Answer, frozen=True):
    """A text that was found; `snippet` is the place with the words, or how it begins."""

    name: str
    path: str
    modified: str = field(name="lastModified")
    size: int
    snippet: str
    found_by: Literal["words", "meaning"]


class FileSearch:
    """Gives the index what has changed: while nobody chats, and before a search. The index alone remembers what it has."""

    def __init__(
        self,
        vault: Vault,
        meaning: MeaningIndex,
        watcher: VaultWatcher,
        clock: Clock = SYSTEM,
    ) -> None:
        self._clock = clock
        self._root = vault.root.resolve()
        self._meaning = meaning
        self._watcher = watcher
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._looked = 0.0
        self._problem: str | None = None

    async def start(self) -> None:
        """Read by the side where meanings are known, which takes a while; else not before somebody searches."""
        if self._meaning.is_on:
            self._watcher.listen(self._handle_changes, is_needed=False)
            self._task = asyncio.create_task(self._follow(), name="texts of the vault")

    async def close(self) -> None:
        """End reading; it goes on where it was."""
        await self._watcher.forget(self._handle_changes)
        for task in (self._task, self._refreshing):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def search(self, question: str, limit: int) -> tuple[list[FoundFile], str | None]:
        """Texts with the words, and others that mean the same, the best first; and why some may be absent, as a sentence.

        Errors: InvalidInput, Unavailable.
        """
        if not question.strip():
            raise InvalidInput("q: words to search for are expected.", key="search_empty")
        problem = await self._refreshed()
        hits = await self._meaning.search(FILES, question, limit)
        sure = sum(map(_is_sure, hits))
        near: list[Hit] = []
        if sure < min(limit, ENOUGH):
            with contextlib.suppress(ParachuteError):  # words are all there is where no meanings are known
                _, found = await self._meaning.find(FILES, question, MOST)
                near = [Hit(each.key, each.score, False, "") for each in worth_showing(found, sure)]
        words = {hit.key for hit in hits}
        both = merged(hits, near, limit, lambda hit: hit.key, _is_sure)
        return await asyncio.to_thread(self._shown, both, words), problem

    async def _refreshed(self) -> str | None:
        """Give what has changed, as long as a person waits; why some texts may be absent."""
        if self._clock.elapsed() - self._looked > _FRESH_SECONDS:
            seconds = _WAIT_SECONDS if self._looked else _FIRST_WAIT_SECONDS
            try:
                async with self._clock.timeout(seconds):
                    await asyncio.shield(self._refresh())
            except TimeoutError:
                return "Indexing is not finished; search again in a moment."
        return self._problem

    def _shown(self, hits: Sequence[Hit], words: set[str]) -> list[FoundFile]:
        """Return the hits that exist and may be read now, whatever the index says."""
        shown = []
        with Folder.open(self._root) as vault:
            for hit in hits:
                if (status := texts.status_of(vault, hit.key)) is None:
                    continue
                snippet = hit.snippet or " ".join(split(texts.text_of(vault, hit.key)).body.split())[:_BEGINNING]
                name, modified = hit.key.rpartition("/")[2], modified_text(status.st_mtime_ns)
                how: Literal["words", "meaning"] = "words" if hit.key in words else "meaning"
                shown.append(FoundFile(name, hit.key, modified, status.st_size, snippet, how))
        return shown

    async def _handle_changes(self, paths: frozenset[str]) -> None:
        self._changed.set()

    async def _follow(self) -> None:
        await self._clock.sleep(_AFTER_START_SECONDS)
        while self._meaning.is_ready:
            self._changed.clear()
            await self._quiet()
            try:
                await asyncio.shield(self._refresh())
            except (ParachuteError, OSError) as error:
                log.warning("The texts of the vault are not searched: %s", error)
            await self._clock.wait(self._changed, None)
            await self._clock.sleep(_AFTER_CHANGE_SECONDS)

    async def _quiet(self) -> None:
        while self._meaning.is_busy():
            await self._clock.sleep(_BUSY_SECONDS)

    def _refresh(self) -> "asyncio.Task[None]":
        """Give what has changed, once at a time."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._give(), name="changed texts of the vault")
        return self._refreshing

    async def _give(self) -> None:
        is_cut = True
        while is_cut:
            found = await asyncio.to_thread(texts.marks, self._root)
            self._problem = found.problem
            missing: Sequence[str] = await self._meaning.missing(FILES, found.found, _MOST_MISSING)
            is_cut = len(missing) == _MOST_MISSING
            while missing:
                given, missing = await asyncio.to_thread(self._read, missing)
                await self._meaning.put_marked(FILES, given, {path: found.found[path] for path in given})
                if missing:
                    await self._quiet()
            self._looked = self._clock.elapsed()

    def _read(self, paths: Sequence[str]) -> tuple[dict[str, str], Sequence[str]]:
        """The first texts of some, and the paths of the rest."""
        given: dict[str, str] = {}
        size = 0
        with Folder.open(self._root) as vault:
            for path in paths[:_BATCH]:
                given[path] = texts.text_of(vault, path)
                size += len(given[path])
                if size > _BATCH_SIZE:
                    break
        return given, paths[len(given) :]


def _is_sure(hit: Hit) -> bool:
    return hit.has_all or hit.score >= SURE
