"""Events of the journal: enqueued before something is written, and published until the server has taken them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from daily.journal.state import PendingEvent, State
from parachute.core import InvalidInput, ParachuteError

log = logging.getLogger("parachute.module")

CREATED, UPDATED, DELETED = "daily.entry.created", "daily.entry.updated", "daily.entry.deleted"
REFLECTED = "daily.reflection.completed"
_LONGEST_CONTENT = 40_000
_RETRY_SECONDS = 5.0
_LAST_SECONDS = 1.0
_AT_ONCE = 20


def entry_event(name: str, entry_id: str, content: str, audio_path: str | None) -> PendingEvent:
    """The event about an entry; of a long text it has the beginning, and `truncated`."""
    data: dict[str, Any] = {"entry_id": entry_id, "content": content[:_LONGEST_CONTENT], "audio_path": audio_path}
    if len(content) > _LONGEST_CONTENT:
        data["truncated"] = True
    return PendingEvent(0, name, data)


class Publisher:
    """Publish what the state's queue holds, in order. `path_of` is the file in which an entry is, by its id, None where it is in none."""

    def __init__(
        self,
        state: State,
        publish: Callable[[str, dict[str, Any]], Awaitable[Any]],
        path_of: Callable[[str], Awaitable[str | None]],
    ) -> None:
        self._state = state
        self._publish = publish
        self._path_of = path_of
        self._happened: set[int] = set()
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._quiet = asyncio.Event()

    def start(self) -> None:
        """Publish what a crash has left over, and then what comes."""
        self._wake.set()
        self._task = asyncio.ensure_future(self._work())

    async def close(self) -> None:
        """Give the last events a moment; what is not taken is published at the next start."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(_LAST_SECONDS):
                await self.settled()
        except TimeoutError:
            pass
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def settled(self) -> None:
        """Return when everything was published."""
        while self._wake.is_set() or not self._quiet.is_set():
            await self._quiet.wait()
            await asyncio.sleep(0)

    def release(self, number: int) -> None:
        """Publish an event of the queue now: what it is about has happened."""
        self._happened.add(number)
        self._state.release(number)
        self._quiet.clear()
        self._wake.set()

    async def forget(self, number: int) -> None:
        """Take an event out of the queue: what it is about did not happen."""
        await self._state.dequeue([number])

    async def publish(self, event: PendingEvent) -> None:
        """Enqueue an event and publish it soon."""
        self.release(await self._state.enqueue(event))

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                again = await self._publish_some()
            except ParachuteError as error:
                log.warning("Events wait until the server takes them: %s", error)
                again = False
                asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._wake.set)
            if again:
                self._wake.set()
            elif not self._wake.is_set():
                self._quiet.set()

    async def _publish_some(self) -> bool:
        """Publish the next events; True if there were any."""
        done: list[int] = []
        try:
            for event in await self._state.waiting(_AT_ONCE):
                if event.number in self._happened or await self._has_happened(event):
                    await self._send(event)
                done.append(event.number)
        finally:
            if done:
                await self._state.dequeue(done)
                self._happened.difference_update(done)
        return bool(done)

    async def _has_happened(self, event: PendingEvent) -> bool:
        """Of what an earlier process has left over: it may have ended before it wrote or removed the entry."""
        if event.name in (CREATED, DELETED):
            return (await self._path_of(event.data["entry_id"]) is not None) == (event.name == CREATED)
        return True

    async def _send(self, event: PendingEvent) -> None:
        data = event.data
        if event.name in (CREATED, UPDATED):
            data = {**data, "entry_path": await self._path_of(data["entry_id"])}
        try:
            await self._publish(event.name, data)
        except InvalidInput as error:
            log.error("The event %s was refused: %s", event.name, error)
