"""Retries of answers that a restart interrupted; the question stays in the conversation once."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from parachute.base.errors import Conflict
from parachute.chat.runs.events import Event, UserMessage
from parachute.chat.runs.log import replay
from parachute.chat.runs.service import Runs
from parachute.chat.runs.store import RunStore
from parachute.chat.sessions.service import Sessions

GO_ON = "[This computer was restarted in the middle of this answer. Go on where you were, and do not do again what is done.]"
"""The message with which an agent goes on."""


class Begun(Struct, frozen=True):
    """An answer that goes on: what was `said` in each run since its question, and the `message` with which it does."""

    said: Sequence[Sequence[tuple[int, Event]]]
    message: str


class InterruptedAnswers:
    """Takes broken runs up: behind tools that have worked an answer goes on, and all others are as if they had never been asked for."""

    def __init__(self, runs: Runs, store: RunStore, sessions: Sessions) -> None:
        self._runs = runs
        self._store = store
        self._sessions = sessions

    async def take_up(self, session: str, since: int, message: str) -> Begun | None:
        """Take up the run of a message, the session's last one and no older than `since`; None: the message is to be sent anew."""
        try:
            with self._runs.reserved(session):
                return await self._take_up(session, since, message)
        except Conflict:
            return None  # the owner has asked something there meanwhile

    async def _take_up(self, session: str, since: int, message: str) -> Begun | None:
        last = await self._store.last(session)
        if last is None or last[0] < since or last[1] != "interrupted":
            return None
        said: list[Sequence[tuple[int, Event]]] = []
        missing: list[str] = []
        is_cut = False
        for run in reversed(await self._store.unfinished(session)):
            events = await self._store.events(run)
            sent = [event for _, event in events if isinstance(event, UserMessage)]
            if not sent or not (sent[0].content.startswith(GO_ON) or message.startswith(sent[0].content)):
                break
            first, more = sent[0], sent[1:]
            found = await asyncio.to_thread(self._sessions.transcripts.take_back, session, first.id)
            has_worked = found is not None and found.has_worked
            known = found.ids if found is not None else frozenset()
            if run == last[0]:
                # What was put in before that run, its own message has brought.
                own = [] if has_worked else [first.content.removeprefix(GO_ON).strip()]
                missing = [*own, *(each.content for each in more if each.id not in known)]
            if has_worked:
                said.insert(0, replay(events, 0))
            else:
                await self._store.drop(run)
                is_cut = found is not None
            if not first.content.startswith(GO_ON):
                break
        if said:
            return Begun(said, "\n\n".join(filter(None, (GO_ON, *missing))))
        if is_cut and not await asyncio.to_thread(self._sessions.transcripts.bring, session):
            await self._forget_words(session)
        return None

    async def _forget_words(self, session: str) -> None:
        """Nothing was said yet in a conversation whose first message was taken back, so that no transcript of it is missing."""
        found = await self._sessions.get(session)
        found.message_count = 0
        await self._sessions.save(found)
