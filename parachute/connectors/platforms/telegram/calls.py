"""The calls of the Bot API by which something is shown: as HTML or plain, and in a group that has become another one."""

import zlib
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace
from telegram import InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters
from telegram import Message as TelegramMessage
from telegram.constants import ChatAction, ParseMode
from telegram.error import BadRequest, ChatMigrated

from parachute.base.chat_ids import split_id
from parachute.connectors.platforms.models import File
from parachute.connectors.platforms.platform import Refused
from parachute.connectors.platforms.shared_files import open_file
from parachute.connectors.platforms.telegram.api import Api
from parachute.connectors.platforms.telegram.markup import Part
from parachute.connectors.platforms.telegram.problems import translated

_PICTURE_BYTES, _FILE_BYTES = 10 * 1024 * 1024, 50 * 1024 * 1024
# Telegram would call the addresses in an answer, with whatever an agent was led to put there.
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_NO_PICTURE = ("photo_invalid", "image_process_failed", "photo_ext_invalid")

Answer = TypeVar("Answer")


class Calls:
    """Calls about one chat at a time, by its id, which may be that of a topic. Errors of all: ConnectionError, Refused.

    `waits` False: what Telegram wants to have later is a ConnectionError.
    """

    def __init__(self, api: Api, files: Path) -> None:
        self._api = api
        self._bot = api.bot
        self._files = files
        self._moved: dict[str, str] = {}

    async def send(
        self, chat: str, part: Part, keyboard: InlineKeyboardMarkup | None, answers: str, *, waits: bool
    ) -> str:
        """Write a message; its id."""
        reply = ReplyParameters(int(answers), allow_sending_without_reply=True) if answers.isdecimal() else None
        _, topic = split_id(chat)

        async def send(text: str, mode: str | None) -> TelegramMessage:
            message = partial(
                self._bot.send_message,
                text=text,
                parse_mode=mode,
                reply_markup=keyboard,
                reply_parameters=reply,
                message_thread_id=topic,
                link_preview_options=_NO_PREVIEW,
            )
            return await self._call(chat, message, waits=waits)

        try:
            return str((await _in_html(part, send)).message_id)
        except BadRequest as error:
            raise translated(error) from None

    async def edit(
        self, chat: str, message: str, part: Part, keyboard: InlineKeyboardMarkup | None, *, waits: bool
    ) -> bool:
        """Change a message; False if it is gone and has to be written anew."""

        async def edit(text: str, mode: str | None) -> TelegramMessage | bool:
            def change(target: str) -> Awaitable[TelegramMessage | bool]:
                return self._bot.edit_message_text(
                    text,
                    target,
                    int(message),
                    parse_mode=mode,
                    reply_markup=keyboard,
                    link_preview_options=_NO_PREVIEW,
                )

            return await self._call(chat, change, waits=waits)

        try:
            await _in_html(part, edit)
        except BadRequest as error:
            text = error.message.lower()
            if "not modified" in text:
                return True
            if "not found" in text or "can't be edited" in text:
                return False
            raise translated(error) from None
        return True

    async def delete(self, chat: str, message: str) -> None:
        """Delete a message; one that is gone is no error."""
        try:
            await self._call(chat, partial(self._bot.delete_message, message_id=int(message)))
        except BadRequest:
            pass  # somebody else has deleted it

    async def is_own(self, chat: str, message: int, keyboard: InlineKeyboardMarkup | None) -> bool:
        """True for a message that the bot has written; it then has these buttons.

        A bot cannot read a conversation. But what it may change it has written.
        """
        change = partial(self._bot.edit_message_reply_markup, message_id=message, reply_markup=keyboard)
        try:
            await self._call(chat, change)
        except BadRequest as error:
            return "not modified" in error.message.lower()
        return True

    async def draft(self, key: str, chat: str, part: Part) -> bool:
        """Show a text in the place of the next message; False if the server of the API knows no drafts."""
        number = zlib.crc32(key.encode()) & 0x7FFFFFFF or 1

        async def send(text: str, mode: str | None) -> bool:
            draft = partial(self._bot.send_message_draft, draft_id=number, text=text, parse_mode=mode)
            return await self._call(chat, lambda target: draft(int(target)), waits=False)

        try:
            return await _in_html(part, send)
        except BadRequest:
            return False

    async def typing(self, chat: str) -> None:
        """Show for five seconds that something is being written."""
        _, topic = split_id(chat)
        action = partial(self._bot.send_chat_action, action=ChatAction.TYPING, message_thread_id=topic)
        try:
            await self._call(chat, action, waits=False)
        except BadRequest as error:
            raise translated(error) from None

    async def send_file(self, chat: str, file: File) -> str:
        """Write a message with a file of the shared folder; its id."""
        try:
            found = open_file(self._files, file)
        except FileNotFoundError as error:
            raise Refused(str(error)) from error
        with found as opened:
            size = opened.seek(0, 2)
            if size > _FILE_BYTES:
                raise Refused(f"The file {file.name} has more than 50 MB, which Telegram does not take from bots.")
            name = file.name or "file"

            is_picture = file.kind == "picture" and size <= _PICTURE_BYTES
            _, topic = split_id(chat)

            async def send(target: str) -> TelegramMessage:
                opened.seek(0)
                if is_picture:
                    return await self._bot.send_photo(target, opened, filename=name, message_thread_id=topic)
                if file.kind == "voice":
                    return await self._bot.send_voice(target, opened, filename=name, message_thread_id=topic)
                if file.kind == "audio":
                    return await self._bot.send_audio(target, opened, filename=name, message_thread_id=topic)
                return await self._bot.send_document(target, opened, filename=name, message_thread_id=topic)

            try:
                try:
                    return str((await self._call(chat, send)).message_id)
                except BadRequest as error:
                    if not is_picture or not any(word in error.message.lower() for word in _NO_PICTURE):
                        raise
                    # Too long or too narrow for a picture; as a file it is shown all the same.
                    is_picture, file = False, replace(file, kind="document")
                return str((await self._call(chat, send)).message_id)
            except BadRequest as error:
                raise translated(error) from None

    async def _call(self, chat: str, asking: Callable[[str], Awaitable[Answer]], *, waits: bool = True) -> Answer:
        """Ask about a chat, also if it has become a supergroup with another id."""
        group, _ = split_id(chat)
        target = self._moved.get(group, group)
        try:
            return await self._api.call(group, lambda: asking(target), waits=waits)
        except ChatMigrated as moved:
            self._moved[group] = str(moved.new_chat_id)
        return await self._api.call(group, lambda: asking(self._moved[group]), waits=waits)


async def _in_html(part: Part, send: Callable[[str, str | None], Awaitable[Answer]]) -> Answer:
    """Say it as HTML, and plain if Telegram cannot read that."""
    try:
        return await send(part.html, ParseMode.HTML)
    except BadRequest as error:
        if "parse entities" not in error.message.lower():
            raise
    return await send(part.plain, None)
