"""Conversations in the index of meanings: given after each turn, and found beside those with the words."""

import asyncio
import contextlib
from typing import Protocol

from parachute.base.errors import ParachuteError
from parachute.chat.sessions.store import SessionStore
from parachute.core.meaning import worth_showing
from parachute.llm.meaning.searched import Searched
from parachute.llm.meaning.service import MeaningIndex

CONVERSATIONS = "conversations"
"""The collection of conversations."""

_BATCH, _BATCH_SIZE = 50, 1_000_000
_MOST = 10
_SHORTEST = 3
"""Fewer letters mean nothing yet: somebody is still writing."""


class MeaningSearch(Protocol):
    """Search by meaning for the list of sessions; `progress` is another number when other sessions may be found."""

    @property
    def progress(self) -> int:
        """Return the progress of the index."""

    def changed(self, session: str) -> None:
        """Take notice of a session that says something else now, or is gone."""

    async def find(self, question: str, sure: int) -> list[str]:
        """Sessions that are about a question, beside so many with its words, the likeliest first; none where no meanings are known."""

    def searched(self, count: int) -> Searched:
        """Return what a search of so many sessions looks through."""


class ConversationMeanings:
    """Index of conversations by meaning; it remembers its progress, so that it resumes after the server was killed."""

    def __init__(self, store: SessionStore, meaning: MeaningIndex) -> None:
        self._store = store
        self._meaning = meaning
        self._waiting: dict[str, None] = {}
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def progress(self) -> int:
        """Return the progress of the index."""
        return self._meaning.progress

    async def start(self) -> None:
        """Give what was said since the last time."""
        if self._meaning.is_on:
            self._task = asyncio.create_task(self._give())

    async def close(self) -> None:
        """End giving."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def changed(self, session: str) -> None:
        """Take notice of a session that says something else now, or is gone."""
        self._waiting[session] = None
        self._wanted.set()

    async def find(self, question: str, sure: int) -> list[str]:
        """Sessions that are about a question, beside so many with its words, the likeliest first; none where no meanings are known."""
        if len(question) < _SHORTEST:
            return []
        try:
            index, found = await self._meaning.find(CONVERSATIONS, question, _MOST)
        except ParachuteError:
            return []
        await self._is_of(index)
        return [near.key for near in worth_showing(found, sure)]

    def searched(self, count: int) -> Searched:
        """Return what a search of so many sessions looks through."""
        return self._meaning.searched(count)

    async def _is_of(self, index: str) -> bool:
        """Return True for the index that has what was given; another one is given everything."""
        known, _ = await self._store.meanings()
        if known == index:
            return True
        await self._store.set_meanings(index, 0)
        for session in await self._store.ids():
            self.changed(session)
        return False

    async def _give(self) -> None:
        _, last = await self._store.meanings()
        for session in await self._store.words.said_since(last):
            self.changed(session)
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            # What cannot be given now is given after the next turn, or at the next start.
            with contextlib.suppress(ParachuteError):
                await self._give_all()

    async def _give_all(self) -> None:
        # Looked up first: what is said meanwhile waits for the next time.
        last, index = await self._store.words.last_said(), ""
        while self._waiting:
            index = await self._give_some()
        if index and await self._is_of(index):
            await self._store.set_meanings(index, last)

    async def _give_some(self) -> str:
        texts: dict[str, str] = {}
        gone: list[str] = []
        size = 0
        for session in list(self._waiting)[:_BATCH]:
            del self._waiting[session]
            if await self._store.get(session) is None:
                gone.append(session)
                continue
            texts[session] = "\n".join(text for _, text in await self._store.words.of(session))
            size += len(texts[session])
            if size > _BATCH_SIZE:
                break
        try:
            return await self._meaning.put(CONVERSATIONS, texts, gone)
        except ParachuteError:
            self._waiting.update(dict.fromkeys((*texts, *gone)))
            raise


def found_by(words: list[str], near: list[str]) -> list[str]:
    """Projections of sessions with the words, then others with the meaning, each with how it was found."""
    # One with a passage begins as the same one without.
    others = [summary for summary in near if not any(each.startswith(summary[:-1]) for each in words)]
    return [*(_marked(summary, "words") for summary in words), *(_marked(summary, "meaning") for summary in others)]


def _marked(summary: str, how: str) -> str:
    return f'{summary[:-1]},"found_by":"{how}"}}'
