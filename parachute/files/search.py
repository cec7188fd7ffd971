"""Searching the files of the vault by words and by meaning, in the index's process."""

import asyncio
import contextlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import field

from parachute.base.answers import Answer
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.config.vault.service import Vault
from parachute.core.front_matter import split
from parachute.core.meaning import ENOUGH, MOST, merged, worth_showing
from parachute.events.file_watcher.service import VaultWatcher
from parachute.files import texts
from parachute.files.documents.kinds import kind_of
from parachute.files.documents.pieces import LONGEST, divided, starts
from parachute.files.documents.service import Documents
from parachute.files.indexing import Indexing
from parachute.files.models import modified_text
from parachute.files.places import place_of
from parachute.llm.meaning.full_text import FILES, Hit
from parachute.llm.meaning.searched import Searched
from parachute.llm.meaning.service import MeaningIndex

_FRESH_SECONDS = 3.0
_FIRST_WAIT_SECONDS, _WAIT_SECONDS = 10.0, 1.0
"""Longest waits of the first search, and of a later one, for texts that have changed; the rest is found by the next one."""

_BEGINNING, _ROOM = 200, 800
_IDS = re.compile(r"#+ para:[\w:-]+[ \t]*")
_PIECES = 3
"""So many hits of one file are expected: each has one place in the answer."""


class FoundFile(Answer, frozen=True):
    """A file that was found; `snippet` is the place with the words, or how it begins, and `page`, `chapter` or `line` leads to it."""

    name: str
    path: str
    modified: str = field(name="lastModified")
    size: int
    snippet: str
    found_by: Literal["words", "meaning"]
    page: int | None
    chapter: int | None
    line: int | None


class FileSearch:
    """Searches what the index knows, after it was given what has changed."""

    def __init__(
        self,
        vault: Vault,
        meaning: MeaningIndex,
        watcher: VaultWatcher,
        folder: Path,
        clock: Clock = SYSTEM,
        *,
        pictures: bool = True,
    ) -> None:
        """`folder` keeps the texts of documents, and of `pictures`, if they are read."""
        self._clock = clock
        self._root = vault.root.resolve()
        self._meaning = meaning
        self._documents = Documents(self._root, folder)
        self.indexing = Indexing(self._root, meaning, self._documents, watcher, clock, pictures)

    @property
    def searched(self) -> Searched:
        """Numbers of what a search looks through now."""
        return self._meaning.searched(self.indexing.progress.read)

    async def search(self, question: str, limit: int) -> tuple[list[FoundFile], str | None]:
        """Files with the words, and others that mean the same, the best first; and why some may be absent, as a sentence.

        Errors: InvalidInput, Unavailable.
        """
        if not question.strip():
            raise InvalidInput("q: words to search for are expected.", key="search_empty")
        problem = await self._refreshed()
        hits = _of_files(await self._meaning.search(FILES, question, limit * _PIECES))[:limit]
        sure = sum(map(_is_sure, hits))
        near: list[Hit] = []
        if sure < min(limit, ENOUGH):
            with contextlib.suppress(ParachuteError):  # words are all there is where no meanings are known
                _, found = await self._meaning.find(FILES, question, MOST * _PIECES)
                near = _of_files(
                    Hit(each.key, each.score, False, "", each.offset) for each in worth_showing(found, sure)
                )[:MOST]
        words = {_path(hit) for hit in hits}
        both = merged(hits, near, limit, _path, _is_sure)
        # One after the other: a text may have a million letters.
        shown = [await self._shown(hit, words) for hit in both]
        return [each for each in shown if each is not None], problem

    async def _refreshed(self) -> str | None:
        """Give what has changed, as long as a person waits; why some texts may be absent."""
        indexing, first = self.indexing, not self.indexing.looked
        if first or indexing.has_changed or self._clock.elapsed() - indexing.looked > _FRESH_SECONDS:
            try:
                async with self._clock.timeout(_FIRST_WAIT_SECONDS if first else _WAIT_SECONDS):
                    await asyncio.shield(indexing.refresh())
                    # Documents take long: nobody waits for them twice.
                    if first and (reading := indexing.reading()):
                        await asyncio.shield(reading)
            except TimeoutError:
                if not indexing.looked:
                    problem = "Indexing is not finished; search again in a moment."
                    return problem
            except ParachuteError as error:
                return error.message  # what was given before is searched
        done = indexing.progress
        if indexing.waiting and not indexing.problem:
            problem = f"{done.read:,} of {done.total:,} files were read; the others are found later."
            return problem
        return indexing.problem

    async def _shown(self, hit: Hit, words: set[str]) -> FoundFile | None:
        """Return a hit that exists and may be read now, whatever the index says."""
        path, number = divided(hit.key)
        text = None
        if kind_of(path):
            text = await self._documents.store.text(path, (number + 1) * LONGEST + _ROOM)
        return await asyncio.to_thread(self._found, hit, text, "words" if path in words else "meaning")

    def _found(self, hit: Hit, text: str | None, found_by: Literal["words", "meaning"]) -> FoundFile | None:
        path, number = divided(hit.key)
        with Folder.open(self._root) as vault:
            if (status := texts.status_of(vault, path)) is None:
                return None
            text = texts.text_of(vault, path) if text is None else text
        offset = hit.offset + (sum(starts(text)[number:][:1]) if number else 0)
        name, modified = path.rpartition("/")[2], modified_text(status.st_mtime_ns)
        snippet = _IDS.sub("", hit.snippet) or _beginning(text, offset)
        at = place_of(path, text, offset)
        return FoundFile(name, path, modified, status.st_size, snippet, found_by, at.page, at.chapter, at.line)


def _beginning(text: str, offset: int) -> str:
    """Return how a text begins, or what stands at a place in it; without its front matter and the ids of its entries."""
    begins = len(text) - len(split(text).body)
    said = text[max(offset, begins) :][:_ROOM]
    return " ".join(_IDS.sub("", said).split())[:_BEGINNING]


def _of_files(hits: Iterable[Hit]) -> list[Hit]:
    """Return the best hit of each file."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(_path(hit), hit)
    return list(best.values())


def _path(hit: Hit) -> str:
    return divided(hit.key)[0]


def _is_sure(hit: Hit) -> bool:
    return hit.has_all
