"""Giving the index what has changed in the vault: texts at once, documents one after the other while nobody chats."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from parachute.base.clock import Clock
from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.events.file_watcher.service import VaultWatcher
from parachute.files import texts
from parachute.files.documents.kinds import is_picture
from parachute.files.documents.pieces import divided
from parachute.files.documents.service import GONE, Documents
from parachute.files.looking import Look, look
from parachute.files.progress import Progress
from parachute.llm.meaning.full_text import FILES
from parachute.llm.meaning.service import MeaningIndex

log = logging.getLogger(__name__)

_BUSY_SECONDS = 2.0
_AFTER_START_SECONDS, _AFTER_CHANGE_SECONDS = 10.0, 30.0
"""Until the files are looked through; a change seldom comes alone."""

_LATELY_SECONDS = 600.0
"""So long a document that was read goes behind the others, however often it is changed."""

_MOST_LETTERS = 500_000_000
_MOST_MISSING = 5_000
_BATCH, _BATCH_SIZE = 100, 1_000_000


class Indexing:
    """Looks through the vault, and remembers what is still to be read; the index alone remembers what it has."""

    def __init__(
        self,
        root: Path,
        meaning: MeaningIndex,
        documents: Documents,
        watcher: VaultWatcher,
        clock: Clock,
        pictures: bool,
    ) -> None:
        self._root = root
        self._meaning = meaning
        self._documents = documents
        self._pictures = pictures
        self._watcher = watcher
        self._clock = clock
        self._changed = asyncio.Event()
        self._giving = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._marks = texts.Marks()
        self._unreadable: dict[str, str] = {}
        self._tried: dict[str, float] = {}
        self._letters = 0
        self.waiting: dict[str, str] = {}
        """Marks of the documents that are still to be read, by their paths in the order in which they are."""
        self._failed: str | None = None
        self.looked = 0.0
        """The time of the last look at the vault, 0 before the first."""

    @property
    def problem(self) -> str | None:
        """The reason why some files are not among those that are searched."""
        return self._marks.problem or self._failed

    @property
    def has_changed(self) -> bool:
        """True where a change was told since the last look at the vault."""
        return self._changed.is_set()

    @property
    def progress(self) -> Progress:
        """The state of reading."""
        total = len(self._marks.texts) + len(self._marks.documents)
        return Progress(total - len(self.waiting), total, self._marks.left_out, self._unreadable)

    async def start(self) -> None:
        """Read by the side where meanings are known, which takes a while; else not before somebody searches."""
        self._watcher.listen(self._handle_changes, is_needed=False)
        if self._meaning.is_on:
            self._following = asyncio.create_task(self._follow(), name="texts of the vault")

    async def close(self) -> None:
        """End reading; it goes on where it was."""
        await self._watcher.forget(self._handle_changes)
        for task in (self._following, self._refreshing, self._reading):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await self._documents.store.close()

    def refresh(self) -> "asyncio.Task[None]":
        """Give what has changed, once at a time."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._give(), name="changed texts of the vault")
        return self._refreshing

    def reading(self) -> "asyncio.Task[None] | None":
        """The reading of documents that is under way, if one is."""
        return self._reading if self._reading is not None and not self._reading.done() else None

    async def _handle_changes(self, paths: frozenset[str]) -> None:
        self._changed.set()

    async def _follow(self) -> None:
        await self._clock.sleep(_AFTER_START_SECONDS)
        while self._meaning.is_ready:
            await self._quiet()
            try:
                await asyncio.shield(self.refresh())
            except (ParachuteError, OSError) as error:
                log.warning("The texts of the vault are not searched: %s", error)
            await self._clock.wait(self._changed, None)
            await self._clock.sleep(_AFTER_CHANGE_SECONDS)

    async def _quiet(self) -> None:
        while self._meaning.is_busy():
            await self._clock.sleep(_BUSY_SECONDS)

    async def _give(self) -> None:
        missing: Sequence[str] = ()
        is_cut = True
        while is_cut:
            async with self._giving:
                self._changed.clear()
                found = await self._looked_through()
                most = min(_MOST_MISSING, found.most)
                missing = await self._meaning.missing(FILES, found.wanted, most, found.gone)
                is_cut = len(missing) == most
            while missing:
                # A document may be read meanwhile: what it says is never replaced by what it said before.
                async with self._giving:
                    given, missing = await self._read(missing, found.marks.documents)
                    await self._meaning.put_marked(FILES, given, {key: found.wanted[key] for key in given})
                if missing:
                    await self._quiet()
            self.looked = self._clock.elapsed()
        if self.waiting and self.reading() is None:
            self._reading = asyncio.create_task(self._read_documents(), name="documents of the vault")

    async def _looked_through(self) -> Look:
        now = self._clock.elapsed()
        self._tried = {path: at for path, at in self._tried.items() if now - at < _LATELY_SECONDS}
        nanoseconds = int(self._clock.now().timestamp() * 1e9)
        found = await look(
            self._root, self._documents.store, self._marks, self._tried, nanoseconds, pictures=self._pictures
        )
        # What could not be opened is not kept, and remains said until it is tried again.
        refused = {path: reason for path, reason in self._unreadable.items() if path in found.waiting}
        self._marks, self._unreadable = found.marks, refused | found.unreadable
        self.waiting, self._letters = found.waiting, found.letters
        return found

    async def _read(self, keys: Sequence[str], documents: Mapping[str, str]) -> tuple[dict[str, str], Sequence[str]]:
        """The first texts of some, and the keys of the rest."""
        some = keys[:_BATCH]
        of_documents = await self._documents.parts(key for key in some if divided(key)[0] in documents)
        given = await asyncio.to_thread(self._read_texts, some, of_documents)
        return given, keys[len(given) :]

    def _read_texts(self, keys: Sequence[str], of_documents: Mapping[str, str]) -> dict[str, str]:
        given: dict[str, str] = {}
        size = 0
        with Folder.open(self._root) as vault:
            for key in keys:
                found = of_documents.get(key)
                given[key] = texts.text_of(vault, key) if found is None else found
                size += len(given[key])
                if size > _BATCH_SIZE:
                    break
        return given

    async def _read_documents(self) -> None:
        """Read what waits, the newest first; what comes meanwhile is read in its turn."""
        self._failed = None
        while self.waiting:
            path, mark = next(iter(self.waiting.items()))
            await self._quiet()
            try:
                if problem := await self._full():
                    self._failed = problem
                    return
                text, reason = await self._documents.read(path)
                if reason != GONE:
                    async with self._giving:
                        given = await self._documents.keep(path, mark, text, reason)
                        await self._meaning.put_marked(FILES, given, dict.fromkeys(given, mark))
            except (ParachuteError, OSError) as error:
                log.warning("The documents of the vault are not read: %s", error)
                self._failed = error.message if isinstance(error, ParachuteError) else None
                return  # the next look at the vault begins again
            self._letters += len(text)
            self._tried[path] = self._clock.elapsed()
            self._unreadable.pop(path, None)
            if reason and not is_picture(path):
                self._unreadable[path] = reason
            if self.waiting.get(path) == mark:
                del self.waiting[path]

    async def _full(self) -> str | None:
        """The reason why no more documents are kept."""
        problem = None
        if self._letters > _MOST_LETTERS:
            problem = f"Documents have more than {_MOST_LETTERS:,} letters; not all of them are searched."
        elif not await self._documents.store.has_room():
            problem = "The disk has less than 1 GB of free space; no more documents are read for the search."
        return problem
