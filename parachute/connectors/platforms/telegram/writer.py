"""Writing: each key has its messages, which are written, changed and completed as its text grows."""

import time
import zlib
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, ReplyParameters
from telegram import Message as TelegramMessage
from telegram.constants import ChatAction, ParseMode
from telegram.error import BadRequest, ChatMigrated

from parachute.base.folders import Folder
from parachute.connectors.platforms.models import Chat, File, Outgoing, Sent
from parachute.connectors.platforms.platform import Refused
from parachute.connectors.platforms.shown import Entry, Message, Shown, digest
from parachute.connectors.platforms.telegram.api import Api
from parachute.connectors.platforms.telegram.markup import Part, parts
from parachute.connectors.platforms.telegram.problems import translated

LIMIT = 4096
_PICTURE_BYTES, _FILE_BYTES = 10 * 1024 * 1024, 50 * 1024 * 1024
_DRAFT_SECONDS, _EDIT_SECONDS = 0.5, 1.0
_CHATS = 1_000

Answer = TypeVar("Answer")


class Writer:
    """Shows what is said under keys; what was shown is remembered, also by the next process."""

    def __init__(self, api: Api, files: Path, shown: Shown) -> None:
        self._api = api
        self._files = files
        self._shown = shown
        self._has_drafts = True
        self._moved: dict[str, str] = {}
        self._updated: dict[str, float] = {}

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key; errors: ConnectionError, Refused."""
        entry = self._shown.get(key)
        complete = digest([outgoing.markdown, [b.value for b in outgoing.buttons], [f.path for f in outgoing.files]])
        if entry.complete == complete:
            return Sent(entry.ids)
        if not outgoing.is_final:
            return await self._show_growing(key, outgoing)
        entry = await self._show_text(key, outgoing, parts(outgoing.markdown, LIMIT))
        for file in outgoing.files[len(entry.files) :]:
            entry = replace(entry, files=(*entry.files, await self._send_file(outgoing.chat, file)))
            self._shown.put(key, entry)
        entry = replace(entry, complete=complete)
        self._shown.put(key, entry)
        self._updated.pop(outgoing.chat.id, None)
        return Sent(entry.ids)

    async def typing(self, chat: Chat) -> None:
        """Show for five seconds that an answer is being written."""
        if not self._api.is_quiet(chat.id):
            await self._call(
                chat, lambda target: self._api.bot.send_chat_action(target, ChatAction.TYPING), waits=False
            )

    async def _show_growing(self, key: str, outgoing: Outgoing) -> Sent:
        """Show a text that grows, as often as Telegram likes it: what is left out comes with the next piece."""
        chat = outgoing.chat
        drafts = self._has_drafts and chat.kind == "private"
        now = time.monotonic()
        if self._api.is_quiet(chat.id) or now - self._updated.get(chat.id, 0.0) < (
            _DRAFT_SECONDS if drafts else _EDIT_SECONDS
        ):
            return Sent(self._shown.get(key).ids)
        if len(self._updated) > _CHATS:
            self._updated.clear()
        self._updated[chat.id] = now
        found = parts(outgoing.markdown, LIMIT)
        if not found:
            return Sent(self._shown.get(key).ids)
        try:
            if drafts:
                await self._draft(key, chat, found[-1])
                return Sent(self._shown.get(key).ids)
            return Sent((await self._show_text(key, outgoing, found, waits=False)).ids)
        except ConnectionError:
            # The whole text is shown in the end, and nobody misses a piece of it.
            return Sent(self._shown.get(key).ids)

    async def _draft(self, key: str, chat: Chat, part: Part) -> None:
        number = zlib.crc32(key.encode()) & 0x7FFFFFFF or 1

        async def send(text: str, mode: str | None) -> bool:
            return await self._call(
                chat,
                lambda target: self._api.bot.send_message_draft(int(target), number, text, parse_mode=mode),
                waits=False,
            )

        try:
            await self._in_html(part, send)
        except BadRequest:
            # A server of the owner's own may be older than drafts.
            self._has_drafts = False

    async def _show_text(self, key: str, outgoing: Outgoing, found: list[Part], *, waits: bool = True) -> Entry:
        entry = self._shown.get(key)
        for index, part in enumerate(found):
            keyboard = _keyboard(outgoing) if part is found[-1] and outgoing.is_final else None
            wanted = digest([part.html, keyboard.to_dict() if keyboard else None])
            earlier = entry.messages[index] if index < len(entry.messages) else None
            if earlier is not None and earlier.digest == wanted:
                continue
            if earlier is None or not await self._edit(outgoing.chat, earlier.id, part, keyboard, waits):
                answers = outgoing.answers if index == 0 else ""
                identity = await self._send(outgoing.chat, part, keyboard, answers, waits)
            else:
                identity = earlier.id
            entry = entry.with_message(index, Message(identity, wanted))
            self._shown.put(key, entry)
        for surplus in entry.messages[len(found) :]:
            await self._delete(outgoing.chat, surplus.id)
        if len(entry.messages) > len(found):
            entry = replace(entry, messages=entry.messages[: len(found)])
            self._shown.put(key, entry)
        return entry

    async def _send(
        self, chat: Chat, part: Part, keyboard: InlineKeyboardMarkup | None, answers: str, waits: bool
    ) -> str:
        reply = ReplyParameters(int(answers), allow_sending_without_reply=True) if answers.isdecimal() else None

        async def send(text: str, mode: str | None) -> TelegramMessage:
            return await self._call(
                chat,
                lambda target: self._api.bot.send_message(
                    target, text, parse_mode=mode, reply_markup=keyboard, reply_parameters=reply
                ),
                waits=waits,
            )

        try:
            return str((await self._in_html(part, send)).message_id)
        except BadRequest as error:
            raise translated(error) from None

    async def _edit(
        self, chat: Chat, message: str, part: Part, keyboard: InlineKeyboardMarkup | None, waits: bool
    ) -> bool:
        """Change a message; False if it is gone and has to be written anew."""

        async def edit(text: str, mode: str | None) -> TelegramMessage | bool:
            return await self._call(
                chat,
                lambda target: self._api.bot.edit_message_text(
                    text, target, int(message), parse_mode=mode, reply_markup=keyboard
                ),
                waits=waits,
            )

        try:
            await self._in_html(part, edit)
        except BadRequest as error:
            text = error.message.lower()
            if "not modified" in text:
                return True
            if "not found" in text or "can't be edited" in text:
                return False
            raise translated(error) from None
        return True

    async def _delete(self, chat: Chat, message: str) -> None:
        try:
            await self._call(chat, lambda target: self._api.bot.delete_message(target, int(message)))
        except BadRequest:
            pass  # somebody else has deleted it

    async def _send_file(self, chat: Chat, file: File) -> str:
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(Folder.open(self._files))
                opened = stack.enter_context(folder.file(file.path))
            except (OSError, ValueError) as error:
                raise Refused(f"The file {file.name} is not there any more.") from error
            size = opened.seek(0, 2)
            if size > _FILE_BYTES:
                raise Refused(f"The file {file.name} has more than 50 MB, which Telegram does not take from bots.")

            async def send(target: str) -> TelegramMessage:
                opened.seek(0)
                name = file.name or "file"
                if file.kind == "picture" and size <= _PICTURE_BYTES:
                    return await self._api.bot.send_photo(target, opened, filename=name)
                if file.kind == "voice":
                    return await self._api.bot.send_voice(target, opened, filename=name)
                if file.kind == "audio":
                    return await self._api.bot.send_audio(target, opened, filename=name)
                return await self._api.bot.send_document(target, opened, filename=name)

            try:
                return str((await self._call(chat, send)).message_id)
            except BadRequest as error:
                raise translated(error) from None

    async def _in_html(self, part: Part, send: Callable[[str, str | None], Awaitable[Answer]]) -> Answer:
        """Say it as HTML, and plain if Telegram cannot read that."""
        try:
            return await send(part.html, ParseMode.HTML)
        except BadRequest as error:
            if "parse entities" not in error.message.lower():
                raise
        return await send(part.plain, None)

    async def _call(self, chat: Chat, asking: Callable[[str], Awaitable[Answer]], *, waits: bool = True) -> Answer:
        """Ask about a chat, also if it has become a supergroup with another id."""
        target = self._moved.get(chat.id, chat.id)
        try:
            return await self._api.call(chat.id, lambda: asking(target), waits=waits)
        except ChatMigrated as moved:
            self._moved[chat.id] = str(moved.new_chat_id)
        return await self._api.call(chat.id, lambda: asking(self._moved[chat.id]), waits=waits)


def _keyboard(outgoing: Outgoing) -> InlineKeyboardMarkup | None:
    if not outgoing.buttons:
        return None
    rows = [[InlineKeyboardButton(button.label, callback_data=button.value)] for button in outgoing.buttons]
    return InlineKeyboardMarkup(rows)
