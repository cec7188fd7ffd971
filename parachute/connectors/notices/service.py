"""Notices: the inbox in the owner's own chat, questions of bots' conversations always, everything else if it is wanted."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError
from parachute.base.integers import LARGEST
from parachute.chat.sessions.service import Sessions
from parachute.connectors.chats.models import LinkedChat
from parachute.connectors.chats.store import ChatStore
from parachute.connectors.configuration.models import NoticeSettings, Platform
from parachute.connectors.configuration.service import BotConfiguration
from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.notices.shown import shown
from parachute.connectors.notices.store import Notice, NoticeStore
from parachute.connectors.platforms.available import label
from parachute.connectors.platforms.models import Button, Outgoing, Update
from parachute.connectors.texts import say
from parachute.events.inbox.models import Answer, Item
from parachute.events.inbox.service import Inbox
from parachute.security.keys.models import READ_AND_WRITE, Caller

log = logging.getLogger(__name__)

_LOOK_SECONDS = 60.0
_THERE_SECONDS = 120.0
"""After a sign of life in their own chat the owner is taken to be there."""

_ALWAYS = frozenset({"permission", "question"})
_NEVER = frozenset({"delivery"})
"""Items that are never shown in a chat: it may be this chat that cannot be reached."""


@dataclass(slots=True)
class Notices:
    """Looks at the inbox while there is a chat of the owner's own."""

    store: NoticeStore
    chats: ChatStore
    sessions: Sessions
    configuration: BotConfiguration
    deliveries: Deliveries
    inbox: Inbox
    clock: Clock = SYSTEM
    _answering: set[int] = field(default_factory=set, init=False)
    _items: Sequence[Item] = field(default=(), init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _watching: asyncio.Task[None] | None = field(default=None, init=False)
    _notifying: asyncio.Task[None] | None = field(default=None, init=False)

    async def start(self) -> None:
        """Begin, if there is a chat to tell."""
        await self.look()

    async def close(self) -> None:
        """Stop."""
        tasks = [task for task in (self._watching, self._notifying) if task]
        self._watching = self._notifying = None
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def look(self) -> None:
        """See whether there is a chat to tell."""
        if not await self._own_chats():
            await self.close()
        elif self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="inbox for the owner's chat")
            self._notifying = asyncio.create_task(self._notify(), name="notices")
        self._changed.set()

    def owner_seen(self) -> None:
        """The owner writes in their own chat, or presses a button there: for a while agents wait for an answer from it."""
        self.inbox.owner_seen(_THERE_SECONDS)

    async def press(self, platform: Platform, update: Update) -> None:
        """A button was pressed: in the owner's own chat it answers what it was below, and nothing anywhere else."""
        chat = await self.chats.get(platform, update.chat.id)
        if chat is None or not chat.is_owner or chat.sender != update.sender.id:
            return
        number, _, index = update.button.removeprefix("n").partition(".")
        if not (update.button.startswith("n") and number.isdecimal() and index.isdecimal()) or len(update.button) > 30:
            return
        if int(number) > LARGEST:
            return
        notice = await self.store.get(int(number), platform, chat.chat)
        if notice is None or int(index) >= len(notice.choices):
            return
        language = (await asyncio.to_thread(self.configuration.read)).language
        choice = notice.choices[int(index)]
        who = f"{label(platform)} {update.sender.id}"
        values = dict([json.loads(choice.question)]) if choice.question else {}
        # It may what a key without admin rights may, and confirms nothing.
        caller = Caller("key", who, READ_AND_WRITE, is_confirmed=False)
        # What was answered here is gone from the inbox a moment before it is said here.
        self._answering.add(notice.number)
        try:
            await self.inbox.answer(notice.item, notice.hash, Answer(choice.word, who, values), caller, is_owner=False)
            await self._end(chat, notice, say(language, "answered", answer=choice.label))
        except ParachuteError as error:
            is_over = error.key in ("not_waiting", "changed", "busy")
            await self._end(chat, notice, say(language, "not_waiting") if is_over else error.message)
        finally:
            self._answering.discard(notice.number)

    async def _watch(self) -> None:
        async with contextlib.aclosing(self.inbox.watch(by_person=False)) as pages:
            async for page in pages:
                self._items = page.items
                self._changed.set()

    async def _notify(self) -> None:
        while True:
            self._changed.clear()
            try:
                for chat in await self._own_chats():
                    await self._notify_chat(chat)
            except Exception:
                log.exception("The owner's chat could not be told what waits.")
            await self.clock.wait(self._changed, _LOOK_SECONDS)

    async def _notify_chat(self, chat: LinkedChat) -> None:
        configuration = await asyncio.to_thread(self.configuration.read)
        waiting = {(item.id, item.hash) for item in self._items}
        for item in self._items:
            if await self.store.has(chat.platform, chat.chat, item):
                continue
            if not await self._is_wanted(item, configuration.notices):
                continue
            text, choices = shown(item, configuration.language, is_guests=await self._is_guests(item))
            notice = await self.store.add(chat.platform, chat.chat, item, text, choices)
            if notice is not None:
                buttons = (Button(each.label, f"n{notice.number}.{index}") for index, each in enumerate(choices))
                await self.deliveries.put(
                    chat.platform, notice.key, Outgoing(chat.place, text, buttons=tuple(buttons)), again=True
                )
        for notice in await self.store.open(chat.platform, chat.chat):
            if (notice.item, notice.hash) not in waiting and notice.number not in self._answering:
                await self._end(chat, notice, say(configuration.language, "not_waiting"))

    async def _is_wanted(self, item: Item, settings: NoticeSettings) -> bool:
        if item.kind in _NEVER:
            return False
        if item.kind in _ALWAYS and item.session:
            session = await self.sessions.find(item.session)
            if session is not None and session.from_outside:
                return True
        return settings.enabled and not settings.hold_at(self.clock)

    async def _is_guests(self, item: Item) -> bool:
        """Return whether a conversation brought an item that is held in a chat other than the owner's own, or is not known."""
        if item.session is None:
            return False
        session = await self.sessions.find(item.session)
        if session is None:
            return True
        own = {(chat.platform, chat.chat) for chat in await self._own_chats()}
        return session.from_outside and (session.linked_bot_platform, session.linked_bot_chat_id) not in own

    async def _end(self, chat: LinkedChat, notice: Notice, said: str) -> None:
        """Take the buttons away, and say what became of it."""
        if notice.is_over:
            return
        await self.store.end(notice)
        outgoing = Outgoing(chat.place, f"{notice.text}\n\n{said}")
        await self.deliveries.put(chat.platform, notice.key, outgoing, again=True)

    async def _own_chats(self) -> list[LinkedChat]:
        return [chat for chat in await self.chats.all() if chat.is_owner]
