"""Keep the last changes for readers, each with what it has not heard yet and may hear."""

import asyncio
import contextlib
import secrets
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

from parachute.base.clock import SYSTEM, Clock
from parachute.base.signatures import Signature, current_signature
from parachute.events.feed.models import TOPICS, Change, May, of_record
from parachute.events.inbox.service import Inbox
from parachute.security.audit.service import Audit

_KEPT = 1000
_GATHER_SECONDS = 0.1
"""Window in which changes are announced together: a module that writes a hundred entries makes no screen load a hundred times."""

_LOOK_SECONDS = 2.0
"""Between two looks at files that the command line writes, too; only while somebody reads."""

_READY, _RESYNC, _CHANGED = "ready", "resync", "changed"


class Feed:
    """The last changes, each with a number; `files` are those of other programs, by topic.

    Readers hold a position and no queue: one that is too slow for what is kept hears `resync`, and has to load everything anew.
    """

    def __init__(
        self, audit: Audit, inbox: Inbox, files: Mapping[Path, str] | None = None, clock: Clock = SYSTEM
    ) -> None:
        self.boot = secrets.token_hex(4)
        self._audit = audit
        self._inbox = inbox
        self._clock = clock
        self._files = files or {}
        self._last = 0
        self._kept: deque[tuple[int, Change]] = deque(maxlen=_KEPT)
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._readers = {True: 0, False: 0}
        self._looking: dict[bool, asyncio.Task[None]] = {}

    def start(self) -> None:
        """Begin to hear; needs a running event loop."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._audit.listen(self._hear)

    async def close(self) -> None:
        """End what looks for readers."""
        tasks = list(self._looking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _hear(self, record: Mapping[str, Any]) -> None:
        """Hear of a record, in any thread."""
        if (change := of_record(record)) is None or self._loop is None:
            return
        if threading.get_ident() == self._thread:
            self._add(change)
        else:
            with contextlib.suppress(RuntimeError):  # the server has ended
                self._loop.call_soon_threadsafe(self._add, change)

    def changed(self, topic: str, identifier: str | None = None) -> None:
        """Tell the readers of a topic; there must be one of this name."""
        self._add(Change(TOPICS[topic].name, identifier))

    async def follow(self, may: May, after: str | None = None) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        """Yield what changes and what somebody with these rights may hear of, and first whether anything was missed since `after`."""
        position = self._position(after)
        first = _READY if position is not None or after is None else _RESYNC
        position = self._last if position is None else position
        with self._reading(sees_inbox=Change("inbox").may_hear(may)):
            yield position, {"type": first}
            while True:
                wake, last = self._wake, self._last
                if position < last - len(self._kept):
                    yield last, {"type": _RESYNC}
                    position = last
                    continue
                found: dict[Change, int] = {}
                for number, change in reversed(self._kept):
                    if number <= position:
                        break
                    found.setdefault(change, number)
                position = last
                for change, number in reversed(found.items()):
                    if change.may_hear(may):
                        yield number, {"type": _CHANGED, "topic": change.topic, "id": change.id}
                if position == self._last:
                    await self._clock.wait(wake, None)
                    await self._clock.sleep(_GATHER_SECONDS)

    def _add(self, change: Change) -> None:
        self._last += 1
        self._kept.append((self._last, change))
        self._wake.set()
        self._wake = asyncio.Event()

    def _position(self, after: str | None) -> int | None:
        """The number of the event whose id a reader names; None where it is of another start of the server, or too old."""
        boot, _, number = (after or "").partition("-")
        if boot != self.boot or not number.isdecimal():
            return None
        return int(number) if self._last - len(self._kept) <= int(number) <= self._last else None

    @contextlib.contextmanager
    def _reading(self, *, sees_inbox: bool) -> Iterator[None]:
        """Look at files while anybody reads, and at the inbox while somebody does who may see it."""
        kinds = (True, False) if sees_inbox else (False,)
        for kind in kinds:
            self._readers[kind] += 1
            if self._readers[kind] == 1:
                work = self._look_at_inbox() if kind else self._look_at_files()
                self._looking[kind] = asyncio.create_task(work, name="what screens show")
        try:
            yield
        finally:
            for kind in kinds:
                self._readers[kind] -= 1
                if self._readers[kind] == 0:
                    self._looking.pop(kind).cancel()

    async def _look_at_inbox(self) -> None:
        # As one of the inbox's own readers: what an agent asks can be answered while a screen is open.
        async with contextlib.aclosing(self._inbox.watch()) as pages:
            await anext(pages)
            async for _ in pages:
                self.changed("inbox")

    async def _look_at_files(self) -> None:
        before = await asyncio.to_thread(self._signatures)
        while True:
            await self._clock.sleep(_LOOK_SECONDS)
            now = await asyncio.to_thread(self._signatures)
            for topic in dict.fromkeys(self._files[path] for path in self._files if now.get(path) != before.get(path)):
                self.changed(topic)
            before = now

    def _signatures(self) -> dict[Path, Signature | None]:
        found: dict[Path, Signature | None] = {}
        for path in self._files:
            with contextlib.suppress(OSError):
                found[path] = current_signature(path)
        return found
