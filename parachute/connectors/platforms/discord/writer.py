"""Writing: each key has its messages, which are written, changed and completed as its text grows."""

from pathlib import Path

import discord
from msgspec.structs import replace

from parachute.base.clock import SYSTEM, Clock
from parachute.connectors.platforms.discord.calls import Calls, buttons_of, nonce
from parachute.connectors.platforms.discord.problems import Problem
from parachute.connectors.platforms.models import Button, Chat, Outgoing, Sent
from parachute.connectors.platforms.shown import Entry, Message, Shown, digest
from parachute.connectors.platforms.splitting import split

_CHARACTERS = 2000
_BUTTONS = 25
_EDIT_SECONDS = 1.0
_CHATS = 1_000


class Writer:
    """Shows what is said under keys; what was shown is remembered, also by the next process."""

    def __init__(self, client: discord.Client, folder: Path, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._client = client
        self._folder = folder
        self._shown = Shown(folder)
        self._updated: dict[str, float] = {}

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key; of a text that grows, once a second. Errors: ConnectionError, Refused."""
        entry = replace(self._shown.get(key), chat=outgoing.chat.id)
        complete = digest([outgoing.markdown, _pairs(outgoing.buttons), [file.path for file in outgoing.files]])
        if entry.complete == complete or (entry.complete and not outgoing.is_final):
            return _sent(entry)
        if not outgoing.is_final and self._clock.elapsed() < self._updated.get(outgoing.chat.id, 0.0):
            return _sent(entry)  # what is left out comes with the next piece
        problems: list[str] = []
        try:
            calls = Calls(self._client, outgoing.chat)
            entry = await self._show_text(key, entry, outgoing, calls)
            self._wait(outgoing)
            if outgoing.is_final:
                entry, problems = await self._show_files(key, entry, outgoing, calls)
                entry = replace(entry, complete=complete)
                self._shown.put(key, entry)
        except Problem as problem:
            return _sent(self._shown.get(key), [str(problem)])
        return _sent(entry, problems)

    async def typing(self, chat: Chat) -> None:
        """Show for ten seconds that an answer is being written. Errors: ConnectionError, Refused."""
        try:
            await Calls(self._client, chat).typing()
        except Problem:
            pass  # the answer itself will say so

    def _wait(self, outgoing: Outgoing) -> None:
        """Change nothing more in a chat for a second; the end of an answer does not wait."""
        self._updated[outgoing.chat.id] = self._clock.elapsed() + _EDIT_SECONDS
        if len(self._updated) > _CHATS:
            del self._updated[next(iter(self._updated))]

    async def _show_text(self, key: str, entry: Entry, outgoing: Outgoing, calls: Calls) -> Entry:
        if len(outgoing.buttons) > _BUTTONS:
            raise Problem(f"Discord shows {_BUTTONS} buttons at most.")
        texts = split(outgoing.markdown, _CHARACTERS)
        for index, text in enumerate(texts):
            buttons = outgoing.buttons if index == len(texts) - 1 else ()
            wanted = digest([text, _pairs(buttons)])
            if index == len(entry.messages):
                answers = outgoing.replies_to(index)
                entry = await self._create(key, entry, text, buttons, answers, calls)
            written = entry.messages[index]
            if written.digest != wanted:
                is_there = bool(written.id) and await calls.change(written.id, text, buttons)
                # What somebody has deleted stays deleted.
                entry = entry.with_message(index, Message(written.id if is_there else "", wanted))
                self._shown.put(key, entry)
        while len(entry.messages) > len(texts):
            if last := entry.messages[-1].id:
                await calls.delete(last)
            entry = replace(entry, messages=entry.messages[:-1])
            self._shown.put(key, entry)
        return entry

    async def _create(
        self, key: str, entry: Entry, text: str, buttons: tuple[Button, ...], answers: str, calls: Calls
    ) -> Entry:
        index = len(entry.messages)
        message = await self._pending(entry, calls)
        if message is None:
            entry = replace(entry, pending=digest([text, _pairs(buttons)]))
            self._shown.put(key, entry)
            message = await calls.create(nonce(key, f"text {index}"), text, buttons, answers)
        # It may be what an earlier process wrote of a text that has grown since.
        shown = _digest(message) if message else digest([text, _pairs(buttons)])
        entry = entry.with_message(index, Message(str(message.id) if message else "", shown))
        self._shown.put(key, entry)
        return entry

    async def _pending(self, entry: Entry, calls: Calls) -> discord.Message | None:
        """Find what was about to be written when nobody noted any more whether it was."""
        if not entry.pending:
            return None
        known = self._shown.ids_of(entry.chat)
        return await calls.find(lambda each: str(each.id) not in known and _digest(each) == entry.pending)

    async def _show_files(self, key: str, entry: Entry, outgoing: Outgoing, calls: Calls) -> tuple[Entry, list[str]]:
        """Send the files that were not, each as a message; one that cannot be sent does not keep back the others."""
        problems = []
        for index in range(len(entry.files), len(outgoing.files)):
            file = outgoing.files[index]
            message = await self._pending(entry, calls)
            if message is None:
                entry = replace(entry, pending=digest([file.size]))
                self._shown.put(key, entry)
                try:
                    message = await calls.send_file(nonce(key, f"file {index}"), self._folder, file)
                except Problem as problem:
                    problems.append(f"{file.name}: {problem}")
            entry = entry.with_file(str(message.id) if message else "")
            self._shown.put(key, entry)
        return entry, problems


def _pairs(buttons: tuple[Button, ...]) -> list[list[str]]:
    return [[button.label, button.value] for button in buttons]


def _digest(message: discord.Message) -> str:
    """Return the digest of a message, as it was noted before it was written."""
    if message.attachments:
        return digest([message.attachments[0].size])
    return digest([message.content, _pairs(buttons_of(message))])


def _sent(entry: Entry, problems: list[str] | None = None) -> Sent:
    return Sent(tuple(each for each in entry.ids if each), " ".join(problems or ()))
