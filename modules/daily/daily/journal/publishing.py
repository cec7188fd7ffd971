"""Events of the journal: noted before something is written, and told until core has taken them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from daily.journal.state import State, Told
from parachute.core import InvalidInput, ParachuteError

log = logging.getLogger("parachute.module")

CREATED, UPDATED, DELETED = "daily.entry.created", "daily.entry.updated", "daily.entry.deleted"
REFLECTED = "daily.reflection.completed"
_LONGEST_CONTENT = 40_000
_RETRY_SECONDS = 5.0
_LAST_SECONDS = 1.0
_TOLD_AT_ONCE = 20


def entry_event(name: str, entry_id: str, content: str, audio_path: str | None) -> Told:
    """The event about an entry; of a long text it has the beginning, and `truncated`."""
    data: dict[str, Any] = {"entry_id": entry_id, "content": content[:_LONGEST_CONTENT], "audio_path": audio_path}
    if len(content) > _LONGEST_CONTENT:
        data["truncated"] = True
    return Told(0, name, data)


class Teller:
    """Tells what the state's queue holds, in order. `exists` says whether an entry is in its file, by its id."""

    def __init__(
        self,
        state: State,
        publish: Callable[[str, dict[str, Any]], Awaitable[Any]],
        exists: Callable[[str], Awaitable[bool]],
    ) -> None:
        self._state = state
        self._publish = publish
        self._exists = exists
        self._happened: set[int] = set()
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._quiet = asyncio.Event()

    def start(self) -> None:
        """Tell what a crash has left over, and then what comes."""
        self._wake.set()
        self._task = asyncio.ensure_future(self._work())

    async def close(self) -> None:
        """Give the last events a moment; what is not taken is told at the next start."""
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
        """Return when everything was told."""
        while self._wake.is_set() or not self._quiet.is_set():
            await self._quiet.wait()
            await asyncio.sleep(0)

    def release(self, number: int) -> None:
        """Tell an event of the queue now: what it is about has happened."""
        self._happened.add(number)
        self._state.release(number)
        self._quiet.clear()
        self._wake.set()

    async def forget(self, number: int) -> None:
        """Take an event out of the queue: what it is about did not happen."""
        await self._state.told([number])

    async def tell(self, event: Told) -> None:
        """Note an event and tell it soon."""
        self.release(await self._state.tell(event))

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                again = await self._tell_some()
            except ParachuteError as error:
                log.warning("Events wait until core takes them: %s", error)
                again = False
                asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._wake.set)
            if again:
                self._wake.set()
            elif not self._wake.is_set():
                self._quiet.set()

    async def _tell_some(self) -> bool:
        """Whether there were any."""
        told: list[int] = []
        try:
            for event in await self._state.waiting(_TOLD_AT_ONCE):
                if event.number in self._happened or await self._has_happened(event):
                    await self._say(event)
                told.append(event.number)
        finally:
            if told:
                await self._state.told(told)
                self._happened.difference_update(told)
        return bool(told)

    async def _has_happened(self, event: Told) -> bool:
        """Of what an earlier process has left over: it may have ended before it wrote or removed the entry."""
        if event.name in (CREATED, DELETED):
            return await self._exists(event.data["entry_id"]) == (event.name == CREATED)
        return True

    async def _say(self, event: Told) -> None:
        try:
            await self._publish(event.name, event.data)
        except InvalidInput as error:
            log.error("The event %s was refused: %s", event.name, error)
