"""The calls that write: a message is created, changed or deleted, and found again when nobody knows whether it was created."""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import discord

from parachute.base.chat_ids import split_id
from parachute.connectors.platforms.discord.problems import TOO_LARGE, UNKNOWN_MESSAGE, Problem, translated
from parachute.connectors.platforms.models import Button, Chat, File
from parachute.connectors.platforms.shared_files import open_file

_SEARCHED = 20
_BUTTON_LABEL = 80
_NONCE = 25


def nonce(key: str, part: str) -> str:
    """The same for the same part of the same key: Discord then writes no second message for some minutes."""
    return hashlib.sha256(f"{key}\n{part}".encode()).hexdigest()[:_NONCE]


class Calls:
    """Calls about one channel. Errors of all: ConnectionError, Refused, Problem."""

    def __init__(self, client: discord.Client, chat: Chat) -> None:
        channel, thread = split_id(chat.id)
        if not channel.isascii() or not channel.isdecimal():
            raise Problem(f"Discord has no channel {chat.id[:40]!r}.")
        self._client = client
        self._channel = client.get_partial_messageable(thread or int(channel))

    async def typing(self) -> None:
        """Show that something is being written."""
        with translated():
            await self._channel.typing()

    async def create(
        self, nonce: str, text: str, buttons: tuple[Button, ...], answers: str = ""
    ) -> discord.Message | None:
        """Write a message, or return the one that was written with this nonce; None if somebody has deleted that."""
        more: dict[str, Any] = {"view": _view(buttons)} if buttons else {}
        if answers.isascii() and answers.isdecimal():
            more["reference"] = discord.MessageReference(
                message_id=int(answers), channel_id=self._channel.id, fail_if_not_exists=False
            )
        return await self._send(nonce, text, **more)

    async def send_file(self, nonce: str, folder: Path, file: File) -> discord.Message | None:
        """Send a file of the shared folder as a message of its own."""
        limit = self._file_limit()
        try:
            found = open_file(folder, file)
        except FileNotFoundError as error:
            raise Problem(str(error)) from error
        with found as opened:
            if opened.seek(0, 2) > limit:
                raise Problem(f"Discord takes files of {limit // 1024 // 1024} MB at most.", TOO_LARGE)
            opened.seek(0)
            return await self._send(
                nonce, None, file=discord.File(cast(io.BufferedIOBase, opened), filename=file.name or "file")
            )

    async def _send(self, nonce: str, text: str | None, **more: Any) -> discord.Message | None:
        try:
            with translated():
                # Without previews: Discord would call the addresses in an answer, with whatever an agent was led to put there.
                sent: discord.Message = await self._channel.send(text, nonce=nonce, suppress_embeds=True, **more)
                return sent
        except Problem as problem:
            if problem.code == UNKNOWN_MESSAGE:
                return None
            raise

    async def change(self, message: str, text: str, buttons: tuple[Button, ...]) -> bool:
        """Change a message; False if somebody has deleted it."""
        try:
            with translated():
                view = _view(buttons) if buttons else None
                await self._channel.get_partial_message(int(message)).edit(content=text, view=view)
        except Problem as problem:
            if problem.code == UNKNOWN_MESSAGE:
                return False
            raise
        return True

    async def delete(self, message: str) -> None:
        """Delete a message, which may be gone."""
        try:
            with translated():
                await self._channel.get_partial_message(int(message)).delete()
        except Problem as problem:
            if problem.code != UNKNOWN_MESSAGE:
                raise

    async def find(self, fits: Callable[[discord.Message], bool]) -> discord.Message | None:
        """Find one of the bot's own last messages."""
        try:
            with translated():
                async for message in self._channel.history(limit=_SEARCHED):
                    if self._client.user is not None and message.author.id == self._client.user.id and fits(message):
                        return message
        except Problem:
            pass  # the bot may not read there; Discord's memory of nonces is what is left
        return None

    def _file_limit(self) -> int:
        guild = getattr(self._client.get_channel(self._channel.id), "guild", None)
        return guild.filesize_limit if isinstance(guild, discord.Guild) else discord.utils.DEFAULT_FILE_SIZE_LIMIT_BYTES


def buttons_of(message: discord.Message) -> tuple[Button, ...]:
    """The buttons below a message."""
    rows = [row.children for row in message.components if isinstance(row, discord.ActionRow)]
    found = [each for row in rows for each in row if isinstance(each, discord.Button)]
    return tuple(Button(each.label or "", each.custom_id or "") for each in found)


def _view(buttons: tuple[Button, ...]) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for button in buttons:
        view.add_item(discord.ui.Button(label=button.label[:_BUTTON_LABEL], custom_id=button.value))
    view.stop()  # presses come as interactions, also those of an earlier process: discord.py need not remember this one
    return view
