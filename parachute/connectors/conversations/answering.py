"""The answer of a run as a chat sees it: drafts while it grows, a message at each tool call and at the end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from msgspec import Struct, field

from parachute.base.errors import ParachuteError
from parachute.chat.runs import events
from parachute.chat.runs.events import Event
from parachute.connectors.configuration.models import Platform
from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.platforms.models import Chat, Outgoing
from parachute.connectors.runtime.open_connectors import OpenConnectors
from parachute.connectors.texts import Language, say

_DRAFT_SECONDS = 1.0
"""Between two drafts: no platform takes edits faster."""

_TYPING_SECONDS = 4.0


class Answer(Struct):
    """Tells a chat what a run says. What is complete is stored before it is sent, drafts are not; `key` begins those of its messages.

    `answers` is the platform's id of the message that it replies to.
    """

    connectors: OpenConnectors
    deliveries: Deliveries
    platform: Platform
    place: Chat
    key: str
    answers: str
    language: Language
    _number: int = 0
    _text: str = ""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    _again: bool = True

    async def follow(self, run: AsyncIterator[tuple[int, Event]]) -> None:
        """Tell everything to the end of a run; cancelled, the rest is told by whoever takes it up."""
        showing = asyncio.create_task(self._show(), name=f"draft for {self.platform}")
        try:
            async for _, event in run:
                await self._take(event, showing)
        except asyncio.CancelledError:
            showing.cancel()
            raise
        finally:
            await self._end_drafts(showing)

    async def replay(self, said: list[tuple[int, Event]]) -> None:
        """Show what a run said that has ended: what was shown before is not shown again."""
        self._again = False
        for _, event in said:
            await self._take(event, None)

    async def resume(self, said: Sequence[Sequence[tuple[int, Event]]]) -> None:
        """Go on behind what runs that were broken off have said: of that the chat keeps what was complete."""
        self._again = False
        for run in said:
            for _, event in run:
                if not event.is_terminal:
                    await self._take(event, None)
            self._text = ""
        self._again = True

    async def refuse(self, text: str) -> None:
        """Say why there is no answer, or no more of it."""
        await self._complete(text)

    async def _take(self, event: Event, showing: "asyncio.Task[None] | None") -> None:
        match event:
            case events.Text(content=content):
                self._text = content
                self._changed.set()
            case events.ToolUse():
                # A draft would be gone when the tool answers.
                if self._text.strip():
                    await self._complete()
            case events.TurnDone():
                await self._end_drafts(showing)
                if self._text.strip():
                    await self._complete()
                elif not self._number:
                    await self._complete(say(self.language, "empty"))
            case events.Aborted():
                await self._end_drafts(showing)
                # What the end of the server has broken off is not over.
                if event.message not in (events.PANIC.message, events.INTERRUPTED.message):
                    if self._text.strip():
                        await self._complete()
                    await self._complete(say(self.language, "stopped"))
            case events.TypedError() | events.InternalError():
                await self._end_drafts(showing)
                if self._text.strip():
                    await self._complete()
                await self._complete(say(self.language, failure(event)))

    async def _complete(self, text: str | None = None) -> None:
        """Have a message delivered that changes no more."""
        # After a draft that is on its way: behind the message it would take its place.
        async with self._sending:
            outgoing = self._outgoing(text or self._text)
            key, self._text = f"{self.key}.{self._number}", ""
            self._number += 1
            self._changed.clear()
            await self.deliveries.put(self.platform, key, outgoing, again=self._again)

    def _outgoing(self, text: str, *, is_final: bool = True) -> Outgoing:
        return Outgoing(self.place, text, is_final=is_final, answers=self.answers, is_continued=self._number > 0)

    async def _end_drafts(self, showing: "asyncio.Task[None] | None") -> None:
        self._over.set()
        self._changed.set()
        if showing is not None and not showing.done():
            await asyncio.wait({showing})

    async def _show(self) -> None:
        loop = asyncio.get_running_loop()
        typed_at = -_TYPING_SECONDS
        while not self._over.is_set():
            if not self._text and loop.time() - typed_at >= _TYPING_SECONDS:
                typed_at = loop.time()
                with contextlib.suppress(ParachuteError):
                    await self.connectors.typing(self.platform, self.place)
            if not await _within(self._changed, _TYPING_SECONDS):
                continue
            self._changed.clear()
            async with self._sending:
                if self._over.is_set() or not self._text.strip():
                    continue
                draft = self._outgoing(self._text, is_final=False)
                with contextlib.suppress(ParachuteError):
                    await self.connectors.send(self.platform, f"{self.key}.{self._number}", draft)
            # Whatever comes meanwhile is in the next one.
            await _within(self._over, _DRAFT_SECONDS)


async def _within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event; False if it did not come in time."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def failure(event: events.TypedError | events.InternalError) -> str:
    """The sentence for a chat: of what is wrong it learns no more than it needs."""
    if isinstance(event, events.TypedError):
        if event.key == "no_sandbox":
            return "no_sandbox"
        if event.code == "billing_error":
            return "limit"
    return "failed"
