"""Writing: each key has its messages, which are written, changed and completed as its text grows."""

import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec.structs import replace

from parachute.connectors.platforms.matrix.api import Api
from parachute.connectors.platforms.matrix.calls import Calls, transaction
from parachute.connectors.platforms.matrix.problems import ENCRYPTED, OTHERS, Problem
from parachute.connectors.platforms.matrix.reading import ROOM, identifier
from parachute.connectors.platforms.matrix.rooms import Rooms
from parachute.connectors.platforms.models import Button, Chat, Outgoing, Sent
from parachute.connectors.platforms.shown import Entry, Message, Shown, digest
from parachute.connectors.platforms.splitting import split

log = logging.getLogger("parachute.connector")

_CHARACTERS = 8_000
_BUTTONS = 25
_EDIT_SECONDS = 1.0
_LEISURE = 10
_CHATS = 1_000
_FILE = "file:"


class Writer:
    """Shows what is said under keys; what was shown is remembered, also by the next process.

    Of an entry `after` is how many messages were begun under its key: the
    id under which each is written, so that the home server writes none twice.
    """

    def __init__(self, api: Api, calls: Calls, rooms: Rooms, shown: Shown) -> None:
        self._calls = calls
        self._rooms = rooms
        self._shown = shown
        self._api = api
        self._updated: dict[str, float] = {}
        self._typing: set[str] = set()

    async def show(self, key: str, outgoing: Outgoing) -> Sent:
        """Write or change the messages of a key; of a text that grows, once a second. Errors: ConnectionError, Refused."""
        room = outgoing.chat.id
        entry = self._shown.get(key)
        complete = digest([outgoing.markdown, _pairs(outgoing.buttons), [file.path for file in outgoing.files]])
        if entry.complete == complete or (entry.complete and not outgoing.is_final):
            return _sent(entry)
        if not outgoing.is_final and (
            self._api.is_throttled(room) or self._api.clock.elapsed() < self._updated.get(room, 0.0)
        ):
            return _sent(entry)  # what is left out comes with the next piece
        await self._check(outgoing.chat)
        if not outgoing.is_final:
            return await self._show_growing(key, outgoing)
        await self._show_text(key, outgoing, waits=True)
        entry, problems = await self._show_files(key, outgoing)
        entry = replace(entry, complete=complete)
        self._shown.put(key, entry)
        self._updated.pop(room, None)
        if room in self._typing:
            self._typing.discard(room)
            await self._calm(self._calls.typing(room, is_on=False))
        return _sent(entry, problems)

    async def typing(self, chat: Chat) -> None:
        """Show for some seconds that an answer is being written. Errors: ConnectionError, Refused."""
        if self._api.is_throttled(chat.id):
            return
        try:
            await self._check(chat)
            await self._calls.typing(chat.id, is_on=True)
            self._typing.add(chat.id)
        except Problem:
            pass  # the answer itself will say so

    def is_own(self, room: str, message: str) -> bool:
        """True for a message that was shown in a room."""
        return message in self._shown.ids_of(room)

    async def _check(self, chat: Chat) -> None:
        """Keep what is said to one person from others, and from nobody in plain text what they wanted to have encrypted."""
        if not identifier(ROOM, chat.id):
            raise Problem(f"Matrix has no room {chat.id[:40]!r}.")
        about = await self._rooms.about(chat.id)
        if about.is_encrypted:
            raise Problem(ENCRYPTED)
        if chat.kind == "private" and about.kind != "private":
            raise Problem(OTHERS)

    async def _show_growing(self, key: str, outgoing: Outgoing) -> Sent:
        room = outgoing.chat.id
        begun = time.process_time()
        try:
            await self._show_text(key, outgoing, waits=False)
        except ConnectionError as error:
            # The whole text is shown in the end, and nobody misses a piece of it.
            log.info("A piece of an answer was not shown: %s", error)
        if len(self._updated) > _CHATS:
            self._updated.clear()
        # A long text is rendered anew each time, and more rarely for that.
        leisure = max(_EDIT_SECONDS, _LEISURE * (time.process_time() - begun))
        self._updated[room] = self._api.clock.elapsed() + leisure
        return _sent(self._shown.get(key))

    async def _show_text(self, key: str, outgoing: Outgoing, *, waits: bool) -> None:
        if len(outgoing.buttons) > _BUTTONS:
            raise Problem(f"More than {_BUTTONS} numbers are no choice.")
        room = outgoing.chat.id
        texts = split(outgoing.markdown, _CHARACTERS)
        for index, text in enumerate(texts):
            buttons = outgoing.buttons if index == len(texts) - 1 and outgoing.is_final else ()
            wanted = digest([text, _pairs(buttons)])
            if index == len(self._shown.get(key).messages):
                where = await self._calls.related(room, outgoing.answers, is_reply=bool(outgoing.replies_to(index)))
                create = partial(self._calls.create, room, text=text, buttons=buttons, where=where, waits=waits)
                identity, shown = await self._written(key, room, wanted, create)
                self._put(key, index, Message(identity, shown))
            message = self._shown.get(key).messages[index]
            if message.digest != wanted:
                await self._calls.change(room, message.id, text, buttons, waits=waits)
                self._put(key, index, Message(message.id, wanted))
            if buttons:
                await self._calm(self._calls.offer(room, message.id, buttons))
        for surplus in reversed(self._shown.get(key).messages[len(texts) :]):
            await self._calls.delete(room, surplus.id)
            entry = self._shown.get(key)
            self._shown.put(key, replace(entry, messages=entry.messages[:-1]))

    async def _show_files(self, key: str, outgoing: Outgoing) -> tuple[Entry, list[str]]:
        """Send the files that were not, each as a message; one that cannot be sent does not keep back the others."""
        problems = []
        for file in outgoing.files[len(self._shown.get(key).files) :]:
            identity = ""
            try:
                where = await self._calls.related(outgoing.chat.id, outgoing.answers, is_reply=False)
                send = partial(self._calls.send_file, outgoing.chat.id, file=file, where=where)
                identity, _ = await self._written(key, outgoing.chat.id, _FILE + digest([file.path]), send)
            except Problem as problem:
                problems.append(f"{file.name}: {problem}")
            self._shown.put(key, self._shown.get(key).with_file(identity))
        return self._shown.get(key), problems

    async def _written(self, key: str, room: str, wanted: str, write: Callable[..., Awaitable[str]]) -> tuple[str, str]:
        """Write something new after a note of it; its event, and the digest of what it shows, empty if nobody knows that."""
        entry = replace(self._shown.get(key), chat=room)
        noted = entry.pending
        if not noted or noted.startswith(_FILE) != wanted.startswith(_FILE):
            noted = ""
            entry = replace(entry, pending=wanted, after=entry.after + 1)
            self._shown.put(key, entry)
        try:
            # If it was written before, with what may have been less, the home server says which it is.
            event = await write(written_as=transaction(key, entry.after))
        except Problem:
            self._shown.put(key, replace(self._shown.get(key), pending=""))
            raise
        return event, wanted if noted in ("", wanted) else ""

    def _put(self, key: str, index: int, message: Message) -> None:
        self._shown.put(key, self._shown.get(key).with_message(index, message))

    async def _calm(self, call: Awaitable[None]) -> None:
        """Do what is pleasant and not needed."""
        try:
            await call
        except (ConnectionError, Problem) as error:
            log.info("It was left out: %s", error)


def _pairs(buttons: tuple[Button, ...]) -> list[list[str]]:
    return [[button.label, button.value] for button in buttons]


def _sent(entry: Entry, problems: list[str] | None = None) -> Sent:
    return Sent(tuple(each for each in entry.ids if each), " ".join(problems or ()))
