"""Writing: each key has its messages, which are written, changed and completed as its text grows."""

import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec.structs import replace
from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from parachute.base.chat_ids import group_of
from parachute.connectors.platforms.models import Chat, Outgoing, Sent
from parachute.connectors.platforms.platform import Refused
from parachute.connectors.platforms.shown import Entry, Message, Shown, digest
from parachute.connectors.platforms.telegram.api import Api
from parachute.connectors.platforms.telegram.calls import Calls
from parachute.connectors.platforms.telegram.markup import Part, parts

log = logging.getLogger("parachute.connector")

LIMIT = 4096
_DRAFT_SECONDS, _EDIT_SECONDS = 0.5, 1.0
_LEISURE = 10
_CHATS = 1_000
_SEARCHED = 10
_FILE = "file:"


class Writer:
    """Shows what is said under keys; what was shown is remembered, also by the next process."""

    def __init__(self, api: Api, calls: Calls, shown: Shown) -> None:
        self._api = api
        self._calls = calls
        self._shown = shown
        self._has_drafts = True
        self._updated: dict[str, float] = {}
        self._newest: dict[str, int] = {}

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key; errors: ConnectionError, Refused."""
        entry = self._shown.get(key)
        buttons = [[button.label, button.value] for button in outgoing.buttons]
        complete = digest([outgoing.markdown, buttons, [file.path for file in outgoing.files]])
        if entry.complete == complete:
            return Sent(entry.ids)
        if not outgoing.is_final:
            return await self._show_growing(key, outgoing)
        entry = await self._show_text(key, outgoing, parts(outgoing.markdown, LIMIT))
        for index in range(len(entry.files), len(outgoing.files)):
            entry = await self._show_file(key, outgoing, index)
        entry = replace(entry, complete=complete)
        self._shown.put(key, entry)
        self._updated.pop(outgoing.chat.id, None)
        return Sent(entry.ids)

    async def typing(self, chat: Chat) -> None:
        """Show for five seconds that an answer is being written."""
        if not self._api.is_throttled(group_of(chat.id)):
            await self._calls.typing(chat.id)

    def saw(self, chat: str, message: int) -> None:
        """Note a message of a chat, by whomever: what is written next is behind it. Topics of a group count their messages together."""
        chat = group_of(chat)
        self._newest[chat] = max(message, self._newest.pop(chat, 0))
        if len(self._newest) > _CHATS:
            del self._newest[next(iter(self._newest))]

    async def _show_growing(self, key: str, outgoing: Outgoing) -> Sent:
        """Show a text that grows, as often as Telegram likes it: what is left out comes with the next piece."""
        chat = outgoing.chat
        drafts = self._has_drafts and chat.kind == "private"
        now = self._api.clock.elapsed()
        since = now - self._updated.get(chat.id, 0.0)
        if not self._api.is_throttled(group_of(chat.id)) and since >= (_DRAFT_SECONDS if drafts else _EDIT_SECONDS):
            if len(self._updated) > _CHATS:
                self._updated.clear()
            begun = time.process_time()
            found = parts(outgoing.markdown, LIMIT)
            # A long text is rendered anew each time, and more rarely for that.
            self._updated[chat.id] = now + _LEISURE * (time.process_time() - begun)
            try:
                if found and drafts:
                    self._has_drafts = await self._calls.draft(key, chat.id, found[-1])
                elif found:
                    await self._show_text(key, outgoing, found, waits=False)
            except ConnectionError as error:
                # The whole text is shown in the end, and nobody misses a piece of it.
                log.info("A piece of an answer was not shown: %s", error)
        return Sent(self._shown.get(key).ids)

    async def _show_text(self, key: str, outgoing: Outgoing, found: list[Part], *, waits: bool = True) -> Entry:
        chat = outgoing.chat.id
        entry = self._shown.get(key)
        for index, part in enumerate(found):
            keyboard = _keyboard(outgoing) if part is found[-1] and outgoing.is_final else None
            wanted = digest([part.html, keyboard.to_dict() if keyboard else None])
            if index == len(entry.messages) and entry.pending and not entry.pending.startswith(_FILE):
                entry = await self._settle(key, chat, keyboard)
            earlier = entry.messages[index] if index < len(entry.messages) else None
            if earlier is not None and earlier.digest == wanted:
                continue
            if earlier is not None and await self._calls.edit(chat, earlier.id, part, keyboard, waits=waits):
                identity = earlier.id
            else:
                answers = outgoing.replies_to(index)
                send = partial(self._calls.send, chat, part, keyboard, answers, waits=waits)
                identity = await self._announced(key, outgoing, wanted, send)
            entry = self._shown.get(key).with_message(index, Message(identity, wanted))
            self._shown.put(key, entry)
        for surplus in entry.messages[len(found) :]:
            await self._calls.delete(chat, surplus.id)
        if len(entry.messages) > len(found):
            entry = replace(entry, messages=entry.messages[: len(found)])
            self._shown.put(key, entry)
        return entry

    async def _show_file(self, key: str, outgoing: Outgoing, index: int) -> Entry:
        chat, file = outgoing.chat.id, outgoing.files[index]
        wanted = _FILE + digest([index, file.path])
        entry = self._shown.get(key)
        identity = await self._search(chat, entry, None) if entry.pending == wanted else None
        if identity is None:
            identity = await self._announced(key, outgoing, wanted, partial(self._calls.send_file, chat, file))
        entry = self._shown.get(key).with_file(identity)
        self._shown.put(key, entry)
        return entry

    async def _announced(self, key: str, outgoing: Outgoing, wanted: str, send: Callable[[], Awaitable[str]]) -> str:
        """Write a new message, after a note that it is about to be written: afterwards one can look for it."""
        chat = outgoing.chat.id
        answered = int(outgoing.answers) if outgoing.answers.isdecimal() else 0
        group = group_of(chat)
        after = max(self._newest.get(group, 0), answered)
        entry = replace(self._shown.get(key), chat=group, pending=wanted, after=after)
        self._shown.put(key, entry)
        try:
            identity = await send()
        except Refused:
            self._shown.put(key, replace(entry, pending=""))
            raise
        self.saw(chat, int(identity))
        return identity

    async def _settle(self, key: str, chat: str, keyboard: InlineKeyboardMarkup | None) -> Entry:
        """Find out whether a message was written of which only the announcement is known."""
        entry = self._shown.get(key)
        identity = await self._search(chat, entry, keyboard)
        if identity is None:
            entry = replace(entry, pending="")
        else:
            entry = entry.with_message(len(entry.messages), Message(identity, entry.pending))
        self._shown.put(key, entry)
        return entry

    async def _search(self, chat: str, entry: Entry, keyboard: InlineKeyboardMarkup | None) -> str | None:
        """The message of the bot behind those that are known, if there is one: it was written, and the process killed."""
        known = self._shown.ids_of(group_of(chat))
        behind = range(entry.after + 1, entry.after + 1 + _SEARCHED) if entry.after else range(0)
        for number in behind:
            if str(number) not in known and await self._calls.is_own(chat, number, keyboard):
                log.info("A message that was written before the connector ended was found again")
                self.saw(chat, number)
                return str(number)
        return None


def _keyboard(outgoing: Outgoing) -> InlineKeyboardMarkup | None:
    if not outgoing.buttons:
        return None
    rows = [[InlineKeyboardButton(button.label, callback_data=button.value)] for button in outgoing.buttons]
    return InlineKeyboardMarkup(rows)
