"""The event log of one run: appended by the run, followed by any number of readers, stored in batches."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Sequence

from parachute.chat.runs.events import Event, Text, TextDelta, ToolUse, UserMessage
from parachute.chat.runs.store import RunStore

log = logging.getLogger(__name__)

FLUSH_SECONDS = 0.05
SLOW_FLUSH_SECONDS = 0.25
"""Between batches in the middle of a long text: of that a crash may cost a quarter of a second, and the card lives longer."""

TEXT_SECONDS = 0.05
"""Time between two cumulative texts of one reader: 20 a second is what an eye can follow."""


LOG_LIMIT = 32 * 1024 * 1024
"""Bytes of one run, which are kept in memory and on disk: a hundred times the longest answer of a model."""


class EventLog:
    """Events with ascending `seq` from 1; closed by its terminal event; `stored` is false once a batch could not be.

    `size` is about what they take, in bytes; `was_followed` says whether anybody read it when it ended.
    """

    def __init__(self, run: int, store: RunStore) -> None:
        self.run = run
        self._store = store
        self._events: list[tuple[int, Event]] = []
        self._unsaved: list[tuple[int, Event]] = []
        self._changed = asyncio.Event()
        self._flusher: asyncio.Task[None] | None = None
        self._urgent = asyncio.Event()
        self._delay = FLUSH_SECONDS
        self._flush_lock = asyncio.Lock()
        self.closed = False
        self.stored = True
        self.size = 0
        self.was_followed = False
        self._readers = 0

    def append(self, event: Event) -> int:
        """Add an event; its `seq`. Nothing is added after a terminal event."""
        if self.closed:
            return len(self._events)
        entry = (len(self._events) + 1, event)
        self._events.append(entry)
        if isinstance(event, TextDelta):
            self.size += len(event.text)
            if self._unsaved and isinstance(previous := self._unsaved[-1][1], TextDelta):
                self._unsaved[-1] = (entry[0], TextDelta(previous.text + event.text))
            else:
                self._unsaved.append(entry)
        else:
            self.size += len(json.dumps(event.to_json(), default=str))
            self._unsaved.append(entry)
            self.closed = event.is_terminal
            self.was_followed = self.closed and self._readers > 0
            if event.is_terminal or isinstance(event, ToolUse):
                self._urgent.set()
        if self._flusher is None:
            self._flusher = asyncio.create_task(self._flush_later())
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        return entry[0]

    def partial_text(self) -> str | None:
        """The last text of the answer so far; None without one."""
        return partial_text(self._events)

    async def flush(self) -> None:
        """Store what is not stored yet."""
        async with self._flush_lock:
            batch, self._unsaved = self._unsaved, []
            if not batch:
                return
            try:
                await self._store.append(self.run, batch)
            except Exception as error:  # a full disk must not end the answer that a person is reading
                self.stored = False
                log.error("Events of run %d could not be stored: %s", self.run, error)

    async def finish(self) -> None:
        """Store the rest; call it once, after the terminal event."""
        # Woken and not cancelled: the batch that it writes at this moment would be lost.
        self._urgent.set()
        if self._flusher:
            await asyncio.wait({self._flusher})
        await self.flush()

    async def read(self, after: int = 0, *, as_deltas: bool = False) -> AsyncIterator[tuple[int, Event]]:
        """Follow the log from behind `after` to its terminal event, texts at most 20 a second; see `TextReader`."""
        self._readers += 1
        try:
            async for ready in self._read(after, as_deltas=as_deltas):
                yield ready
        finally:
            self._readers -= 1

    async def _read(self, after: int, *, as_deltas: bool) -> AsyncIterator[tuple[int, Event]]:
        reader = TextReader(after, as_deltas=as_deltas)
        position = 0
        loop = asyncio.get_running_loop()
        last_text = 0.0
        while True:
            changed = self._changed
            while position < len(self._events):
                for ready in reader.take(self._events[position]):
                    yield ready
                    last_text = loop.time() if isinstance(ready[1], Text | TextDelta) else last_text
                position += 1
                # The first text is sent at once, later ones are gathered, and so is all that was there before the reader came.
                is_all = position == len(self._events)
                if reader.waiting and is_all and loop.time() - last_text >= TEXT_SECONDS:
                    for ready in reader.release():
                        yield ready
                    last_text = loop.time()
            if self.closed and position == len(self._events):
                return
            timeout = max(0.0, last_text + TEXT_SECONDS - loop.time()) if reader.waiting else None
            try:
                # Not wait_for: before Python 3.12 it could swallow a cancellation.
                async with asyncio.timeout(timeout):
                    await changed.wait()
            except TimeoutError:
                for ready in reader.release():
                    yield ready
                last_text = loop.time()

    async def _flush_later(self) -> None:
        while self._unsaved:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._delay):
                    await self._urgent.wait()
            self._urgent.clear()
            only_text = all(isinstance(event, TextDelta) for _, event in self._unsaved)
            self._delay = min(2 * self._delay, SLOW_FLUSH_SECONDS) if only_text else FLUSH_SECONDS
            await self.flush()
        self._flusher = None


class TextReader:
    """Turns deltas into the app's cumulative `text`, which replaces the one before it until a tool is used.

    With `as_deltas` it joins those that a reader has not seen yet to one, and sends nothing twice.
    """

    def __init__(self, after: int = 0, *, as_deltas: bool = False) -> None:
        self._after = after
        self._as_deltas = as_deltas
        self._parts: list[str] = []
        self._text_seq = 0
        self.waiting = False

    def take(self, entry: tuple[int, Event]) -> Sequence[tuple[int, Event]]:
        """Return what to send for an event; a text waits until `release` or until something else follows it."""
        seq, event = entry
        if isinstance(event, TextDelta):
            if self._as_deltas and seq <= self._after:
                return ()
            self._parts.append(event.text)
            self._text_seq = seq
            self.waiting = seq > self._after
            return ()
        ready = list(self.release())
        if isinstance(event, ToolUse):
            self._parts.clear()
        elif isinstance(event, Text) and not self._as_deltas:
            # A message broke off, and this is what was said before it.
            self._parts = [event.content]
        if seq > self._after:
            ready.append(entry)
        return ready

    def release(self) -> Sequence[tuple[int, Event]]:
        """The text that waits, if any."""
        if not self.waiting:
            return ()
        self.waiting = False
        # Joined only when it is sent: adding each small delta to a long text would copy the text each time.
        text = "".join(self._parts)
        if self._as_deltas:
            self._parts.clear()
            return ((self._text_seq, TextDelta(text)),)
        self._parts = [text]
        return ((self._text_seq, Text(text)),)


def replay(events: Sequence[tuple[int, Event]], after: int, *, as_deltas: bool = False) -> list[tuple[int, Event]]:
    """The stored events of an ended run as a reader sends them."""
    reader = TextReader(after, as_deltas=as_deltas)
    ready = [entry for event in events for entry in reader.take(event)]
    return [*ready, *reader.release()]


def said(events: Sequence[tuple[int, Event]]) -> list[tuple[str, str]]:
    """The (role, text) pairs of the stored events of a run."""
    found: list[tuple[str, str]] = []
    place: int | None = None
    for _, event in replay(events, 0):
        if isinstance(event, UserMessage):
            found.append(("user", event.content))
        elif isinstance(event, ToolUse):
            place = None
        elif isinstance(event, Text):
            # It replaces the one before.
            if place is None:
                place = len(found)
                found.append(("assistant", ""))
            found[place] = ("assistant", event.content)
    return [pair for pair in found if pair[1]]


def partial_text(events: Sequence[tuple[int, Event]]) -> str | None:
    """The last text of an answer that may have broken off; None if nothing was said to the last message."""
    role, text = pairs[-1] if (pairs := said(events)) else ("user", "")
    return text if role == "assistant" else None
