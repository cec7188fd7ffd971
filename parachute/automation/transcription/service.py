"""Recordings of the vault become text, one after the other; what is asked outlives the server and is done once."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from typing import Any

from parachute.automation.transcription.check import Check, NotSetUp, check
from parachute.automation.transcription.journal import EVENTS, JournalTexts, recording_of
from parachute.automation.transcription.models import OVER, Job, State
from parachute.automation.transcription.store import TranscriptionStore
from parachute.automation.transcription.worker import Worker
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, NotFound, ParachuteError
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.events.bus.models import Event
from parachute.events.bus.service import Events

log = logging.getLogger(__name__)

SUBSCRIBER = "transcription"
_LOOK_SECONDS = 60.0


class Transcriptions:
    """`transcribe` is for others in the server who have a file of the vault and want its text."""

    def __init__(
        self,
        home: Home,
        vault: Vault,
        store: TranscriptionStore,
        journal: JournalTexts,
        events: Events,
        is_chatting: Callable[[], bool],
        changed: Callable[[str], None],
        clock: Clock = SYSTEM,
    ) -> None:
        self._store = store
        self._journal = journal
        self._events = events
        self._notify = changed
        self._clock = clock
        self._worker = Worker(home, vault, store, journal, is_chatting, self._changed, clock)
        self._news: dict[str, set[asyncio.Event]] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._current: tuple[str, asyncio.Task[None]] | None = None

    async def start(self) -> None:
        """Go on with what an earlier server was at, and hear of recordings in the journal."""
        await self._store.recover()
        self._events.register(SUBSCRIBER, self._handle)
        await self._events.add_subscriber(SUBSCRIBER, EVENTS, kind=SUBSCRIBER)
        self._task = asyncio.create_task(self._work(), name="transcriptions")

    async def close(self) -> None:
        """Leave what is under way to the next start."""
        await self._events.pause_subscriber(SUBSCRIBER)
        for task in (self._task, self._current and self._current[1]):
            if task:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def check(self) -> Check:
        """Return the engine, and its first missing part; error: ConfigError."""
        return await check(await self._worker.settings())

    async def ask(
        self,
        path: str,
        *,
        entry: str | None = None,
        language: str | None = None,
        is_awaited: bool = True,
        again: bool = False,
    ) -> Job:
        """Put a recording of the vault into the queue, or find it there; with `again` also one whose entry has a text.

        Errors: NotAllowed, InvalidInput and NotFound about the path, NotSetUp, Conflict.
        """
        if isinstance(problem := (await self.check()).problem, NotSetUp):
            raise problem
        recording = await self._worker.opened(path)
        await asyncio.to_thread(recording.file.close)
        replaced = await self._replaced(entry, path, again) if entry else None
        return await self._add(path, entry=entry, language=language, is_awaited=is_awaited, replaced=replaced)

    async def transcribe(self, path: str, language: str | None = None) -> Job:
        """The finished transcription of a file of the vault; who is cancelled leaves it to go on. Errors: see `ask`."""
        return await self.finished((await self.ask(path, language=language)).id)

    async def finished(self, identifier: str) -> Job:
        """Wait until a transcription is over: done, failed (`error` says why) or cancelled. Error: NotFound."""
        news = asyncio.Event()
        self._news.setdefault(identifier, set()).add(news)
        try:
            while True:
                news.clear()
                if (job := await self.get(identifier)).state in OVER:
                    return job
                await news.wait()
        finally:
            waiting = self._news[identifier]
            waiting.discard(news)
            if not waiting:
                del self._news[identifier]

    async def get(self, identifier: str) -> Job:
        """One transcription; error: NotFound."""
        job = await self._store.get(identifier)
        if job is None:
            raise NotFound(
                f"There is no transcription {identifier[:40]!r}.",
                "`parachute voice list` has the last ones.",
                key="no_transcription",
            )
        return job

    async def newest(
        self, limit: int, entry: str | None = None, path: str | None = None, folder: str | None = None
    ) -> Sequence[Job]:
        """The newest transcriptions."""
        return await self._store.newest(limit, entry, path, folder)

    async def open_count(self) -> int:
        """The number of recordings that wait or are being transcribed."""
        return await self._store.open_count()

    async def retry(self, identifier: str) -> Job:
        """Try a failed or cancelled one again, or at once one that waits; errors: NotFound, Conflict."""
        job = await self.get(identifier)
        if job.state is State.DONE:
            raise Conflict(
                "The recording has its text.",
                "Ask for it with `again` to transcribe it once more.",
                key="has_text_already",
            )
        if job.state in OVER:
            return await self._add(
                job.path, entry=job.entry, language=job.wanted_language, is_awaited=True, replaced=job.replaced
            )
        await self._store.update(identifier, due_at=0.0, attempts=0)
        self._wake.set()
        return await self.get(identifier)

    async def cancel(self, identifier: str) -> Job:
        """Take a recording out of the queue, also in its middle; the recording stays. Errors: NotFound, Conflict."""
        if not await self._store.update((await self.get(identifier)).id, state=State.CANCELLED, progress=None):
            raise Conflict("It has ended already.", key="over_already")
        if self._current and self._current[0] == identifier:
            self._current[1].cancel()
        self._changed(identifier)
        return await self.get(identifier)

    async def interrupt(self) -> None:
        """Break off what is under way: all agents are stopped, and what asks models with them. It waits until they work again."""
        if current := self._current:
            current[1].cancel()
            await asyncio.gather(current[1], return_exceptions=True)
            await self._store.update(current[0], state=State.WAITING, progress=None)
            self._changed(current[0])

    async def _replaced(self, entry: str, path: str, again: bool) -> str | None:
        text = await self._journal.text_of(entry)
        if text is None:
            raise NotFound(f"There is no entry {entry[:80]!r}.", key="no_such_entry")
        if not text:
            return None
        before = await self._store.of_entry(entry, path)
        ours = before is not None and before.result is not None and before.result.text == text
        if not again:
            raise Conflict(
                "The entry has a text.", "Ask for it with `again` to transcribe it once more.", key="has_text"
            )
        if not ours:
            raise Conflict(
                "The entry has a text that was written or changed by hand, and is not written over.",
                "Empty the entry's text first, or transcribe the recording without naming the entry.",
                key="has_own_text",
            )
        return text

    async def _handle(self, _: str, event: Event) -> None:
        """An entry of the journal was written: one with a recording and without a text is for us, once."""
        found = recording_of(event.data)
        if found is None or await self._store.of_entry(*found):
            return
        await self._add(found[1], entry=found[0], language=None, is_awaited=False, replaced=None)

    async def _add(self, path: str, **given: Any) -> Job:
        job = Job(
            id=secrets.token_hex(8),
            path=path,
            state=State.WAITING,
            entry=given["entry"],
            wanted_language=given["language"],
            replaced=given["replaced"],
            is_awaited=given["is_awaited"],
        )
        while not await self._store.add(job):
            if found := await self._store.open_of(path):
                if given["is_awaited"] and not found.is_awaited:
                    await self._store.update(found.id, is_awaited=True, due_at=0.0)
                    self._wake.set()
                return found
        self._changed(job.id)
        self._wake.set()
        return await self.get(job.id)

    async def _work(self) -> None:
        while True:
            self._wake.clear()
            try:
                job = await self._store.next(self._clock.now().timestamp())
                if job is None:
                    await self._rest()
                    continue
                await self._carry_out(job)
            except ParachuteError as error:
                log.warning("Recordings wait: %s", error)
                await self._clock.sleep(_LOOK_SECONDS)

    async def _carry_out(self, job: Job) -> None:
        task = asyncio.create_task(self._worker.carry_out(job), name=f"transcription {job.id}")
        self._current = job.id, task
        try:
            await asyncio.wait([task])
        finally:
            self._current = None
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        if not task.cancelled() and (error := task.exception()):
            log.error("The transcription %s failed.", job.id, exc_info=error)
            document = {"key": "error", "message": "Transcribing failed. The server's log says more.", "hint": None}
            await self._store.update(job.id, state=State.FAILED, error=document)
            self._changed(job.id)

    async def _rest(self) -> None:
        due = await self._store.due()
        seconds = None if due is None else max(0.0, min(due - self._clock.now().timestamp(), _LOOK_SECONDS))
        await self._clock.wait(self._wake, seconds)

    def _changed(self, identifier: str) -> None:
        for news in self._news.get(identifier, ()):
            news.set()
        self._notify(identifier)
