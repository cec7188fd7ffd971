"""Conversations in the index of meanings: given after each turn, and found beside those with the words."""

import asyncio
import contextlib
from typing import Protocol

from parachute.base.errors import ParachuteError
from parachute.chat.sessions.store import SessionStore
from parachute.llm.meaning.models import Near
from parachute.llm.meaning.service import MeaningIndex

CONVERSATIONS = "conversations"
"""The collection of conversations."""

_BATCH, _BATCH_SIZE = 50, 1_000_000
_MOST = 10
_SHORTEST = 3
"""Fewer letters mean nothing yet: somebody is still writing."""


class Nearness(Protocol):
    """What the list of sessions asks; `progress` is another number when other sessions may be found."""

    @property
    def progress(self) -> int:
        """How far the index is."""

    def changed(self, session: str) -> None:
        """Take notice of a session that says something else now, or is gone."""

    async def find(self, question: str) -> list[str]:
        """Sessions that are about a question, the likeliest first; none where no meanings are known."""


class NoNearness:
    """Nothing is near to anything."""

    progress = 0

    def changed(self, session: str) -> None:
        """Nothing has to be done."""

    async def find(self, question: str) -> list[str]:
        """Return none."""
        return []


class ConversationMeanings:
    """What was given is remembered by its time, so that a server that was killed goes on where it was."""

    def __init__(self, store: SessionStore, meaning: MeaningIndex) -> None:
        self._store = store
        self._meaning = meaning
        self._waiting: dict[str, None] = {}
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def progress(self) -> int:
        """How far the index is."""
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

    async def find(self, question: str) -> list[str]:
        """Sessions that are about a question, the likeliest first; none where no meanings are known."""
        if len(question) < _SHORTEST:
            return []
        try:
            index, found = await self._meaning.find(CONVERSATIONS, question, _MOST)
        except ParachuteError:
            return []
        await self._is_of(index)
        return [near.key for near in found if isinstance(near, Near)]

    async def _is_of(self, index: str) -> None:
        """Give everything to an index that has nothing of what another one had."""
        known, _ = await self._store.meanings()
        if known != index:
            await self._store.set_meanings(index, "")
            for session in await self._store.ids():
                self.changed(session)

    async def _give(self) -> None:
        _, since = await self._store.meanings()
        for session in await self._store.ids(since):
            self.changed(session)
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            # What cannot be given now is given after the next turn, or at the next start.
            with contextlib.suppress(ParachuteError):
                while self._waiting:
                    await self._give_some()

    async def _give_some(self) -> None:
        texts: dict[str, str] = {}
        gone: list[str] = []
        until, size = "", 0
        for session in list(self._waiting)[:_BATCH]:
            found = await self._store.get(session)
            if found is None:
                gone.append(session)
                continue
            texts[session] = "\n".join(text for _, text in await self._store.words(session))
            until, size = max(until, found.updated_at), size + len(texts[session])
            if size > _BATCH_SIZE:
                break
        index = await self._meaning.put(CONVERSATIONS, texts, gone)
        for session in (*texts, *gone):
            self._waiting.pop(session, None)
        known, since = await self._store.meanings()
        if not self._waiting or until > since:
            await self._store.set_meanings(index if known in ("", index) else known, max(since, until))
        await self._is_of(index)


def found_by(words: list[str], near: list[str]) -> list[str]:
    """Projections of sessions with the words, then others with the meaning, each with how it was found."""
    others = [summary for summary in near if summary not in words]
    return [*(_marked(summary, "words") for summary in words), *(_marked(summary, "meaning") for summary in others)]


def _marked(summary: str, how: str) -> str:
    return f'{summary[:-1]},"found_by":"{how}"}}'
