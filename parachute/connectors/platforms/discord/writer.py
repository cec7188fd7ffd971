"""Writing: a text of the server as messages, streamed by changing them, and never written twice."""

import asyncio
import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

import discord

from parachute.connectors.platforms.discord.platform import Discord
from parachute.connectors.platforms.discord.problems import TOO_LARGE, UNKNOWN_MESSAGE, Problem, translated
from parachute.connectors.platforms.models import Button, Chat, File, Outgoing, Sent
from parachute.connectors.platforms.splitting import split

_BUTTONS = 25
_BUTTON_LABEL = 80
_SECONDS_BETWEEN = 1.0
_KEYS = 256


@dataclass(slots=True)
class _Message:
    id: int
    content: str
    buttons: tuple[Button, ...]
    is_gone: bool = False


@dataclass(slots=True)
class _Shown:
    """What a key shows now."""

    texts: list[_Message] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted: Outgoing | None = None
    is_final: bool = False
    written: float = float("-inf")

    def sent(self, problem: str = "") -> Sent:
        return Sent((*(str(each.id) for each in self.texts), *(str(each) for each in self.files)), problem)


class Writer:
    """The messages of one bot, by the server's keys."""

    def __init__(self, client: discord.Client, folder: Path) -> None:
        self._client = client
        self._folder = folder
        self._shown: OrderedDict[str, _Shown] = OrderedDict()

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key; of drafts the newest, once a second. Errors: ConnectionError, Refused."""
        shown = self._of(key)
        if shown.is_final and not outgoing.is_final:
            return shown.sent()  # a draft that was overtaken
        shown.wanted = outgoing
        async with shown.lock:
            if not outgoing.is_final:
                now = asyncio.get_running_loop().time()
                await asyncio.sleep(max(0.0, shown.written + _SECONDS_BETWEEN - now))
                if shown.wanted is not outgoing:
                    return shown.sent()
            try:
                await self._write(key, shown, outgoing)
            except Problem as problem:
                return shown.sent(str(problem))
            shown.written = asyncio.get_running_loop().time()
            shown.is_final = shown.is_final or outgoing.is_final
            return shown.sent()

    async def typing(self, chat: Chat) -> None:
        """Show that an answer is being written. Errors: ConnectionError, Refused."""
        try:
            with translated():
                await self._channel(chat).typing()
        except Problem:
            pass  # the answer itself will say so

    def _of(self, key: str) -> _Shown:
        shown = self._shown.setdefault(key, _Shown())
        self._shown.move_to_end(key)
        if len(self._shown) > _KEYS:
            self._shown.popitem(last=False)
        return shown

    def _channel(self, chat: Chat) -> discord.PartialMessageable:
        if not chat.id.isascii() or not chat.id.isdecimal():
            raise Problem(f"Discord has no channel {chat.id[:40]!r}.")
        return self._client.get_partial_messageable(int(chat.id))

    async def _write(self, key: str, shown: _Shown, outgoing: Outgoing) -> None:
        if len(outgoing.buttons) > _BUTTONS:
            raise Problem(f"Discord shows {_BUTTONS} buttons at most.")
        channel = self._channel(outgoing.chat)
        texts = split(outgoing.markdown, Discord.message_limit) or (["\u200b"] if outgoing.buttons else [])
        for index, text in enumerate(texts):
            buttons = outgoing.buttons if index == len(texts) - 1 else ()
            if index < len(shown.texts):
                await self._change(channel, shown.texts[index], text, buttons)
                continue
            nonce = _nonce(key, f"text {index}")
            answers = outgoing.answers if index == 0 else ""
            message = await self._create(channel, nonce, answers=answers, content=text, buttons=buttons)
            shown.texts.append(message)
            await self._change(channel, message, text, buttons)  # a process before this one may have written a draft
        while len(shown.texts) > len(texts):
            await self._delete(channel, shown.texts.pop())
        if outgoing.is_final:
            await self._send_files(key, channel, shown, outgoing.files)

    async def _create(
        self,
        channel: discord.PartialMessageable,
        nonce: str,
        *,
        answers: str = "",
        content: str | None = None,
        buttons: tuple[Button, ...] = (),
        file: discord.File | None = None,
    ) -> _Message:
        """Write a message; where one was written with the same nonce, Discord answers with that and writes none."""
        arguments: dict[str, object] = {}
        if answers.isdecimal():
            reference = discord.MessageReference(
                message_id=int(answers), channel_id=channel.id, fail_if_not_exists=False
            )
            arguments["reference"] = reference
        if buttons:
            arguments["view"] = _view(buttons)
        if file is not None:
            arguments["file"] = file
        try:
            with translated():
                # Without previews: Discord would call the addresses in an answer, with whatever an agent was led to put there.
                message = await channel.send(content, nonce=nonce, suppress_embeds=True, **arguments)  # type: ignore[call-overload]
        except Problem as problem:
            if problem.code == UNKNOWN_MESSAGE:
                return _Message(0, content or "", buttons, is_gone=True)  # it was there, and somebody has deleted it
            raise
        return _Message(message.id, message.content, _buttons(message))

    async def _change(
        self, channel: discord.PartialMessageable, message: _Message, text: str, buttons: tuple[Button, ...]
    ) -> None:
        if message.is_gone or (message.content.strip() == text.strip() and message.buttons == buttons):
            return
        try:
            with translated():
                view = _view(buttons) if buttons else None
                await channel.get_partial_message(message.id).edit(content=text, view=view)
        except Problem as problem:
            if problem.code != UNKNOWN_MESSAGE:
                raise
            message.is_gone = True  # what somebody has deleted stays deleted
        message.content, message.buttons = text, buttons

    async def _delete(self, channel: discord.PartialMessageable, message: _Message) -> None:
        try:
            with translated():
                await channel.get_partial_message(message.id).delete()
        except Problem:
            pass  # it is gone already

    async def _send_files(
        self, key: str, channel: discord.PartialMessageable, shown: _Shown, files: tuple[File, ...]
    ) -> None:
        """Send the files that have not been sent, each as a message; what is too large does not keep back the others."""
        problems = []
        limit = self._file_limit(channel.id)
        for index, file in enumerate(files):
            if index < len(shown.files):
                continue
            path = self._folder / file.path
            try:
                if path.stat().st_size > limit:
                    raise Problem(f"Discord takes files of {limit // 1024 // 1024} MB at most.", TOO_LARGE)
                opened = discord.File(path, filename=file.name)  # closed by discord.py
                message = await self._create(channel, _nonce(key, f"file {index}"), file=opened)
                shown.files.append(message.id)
            except OSError:
                problems.append(f"{file.name}: the file is not there any more.")
                shown.files.append(0)
            except Problem as problem:
                problems.append(f"{file.name}: {problem}")
                shown.files.append(0)
        if problems:
            raise Problem(" ".join(problems))

    def _file_limit(self, channel: int) -> int:
        found = self._client.get_channel(channel)
        guild = getattr(found, "guild", None)
        return guild.filesize_limit if isinstance(guild, discord.Guild) else discord.utils.DEFAULT_FILE_SIZE_LIMIT_BYTES


def _nonce(key: str, part: str) -> str:
    """At most 25 characters, the same for the same part of the same key."""
    return hashlib.sha256(f"{key}\n{part}".encode()).hexdigest()[:25]


def _view(buttons: tuple[Button, ...]) -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    for button in buttons:
        view.add_item(discord.ui.Button(label=button.label[:_BUTTON_LABEL], custom_id=button.value))
    view.stop()  # presses come as interactions, also those of an earlier process: discord.py need not remember this one
    return view


def _buttons(message: discord.Message) -> tuple[Button, ...]:
    rows = (row for row in message.components if isinstance(row, discord.ActionRow))
    return tuple(
        Button(each.label or "", each.custom_id or "")
        for row in rows
        for each in row.children
        if isinstance(each, discord.Button)
    )
