"""Events of rooms: messages written, changed and taken back, choices, and memberships of the bot."""

import logging
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from parachute.connectors.platforms.matrix import translation
from parachute.connectors.platforms.matrix.calls import Calls, transaction
from parachute.connectors.platforms.matrix.downloads import Downloads
from parachute.connectors.platforms.matrix.position import Position
from parachute.connectors.platforms.matrix.problems import Problem
from parachute.connectors.platforms.matrix.reading import EVENT, answered, identifier, mapping, relation, replaced, text
from parachute.connectors.platforms.matrix.rooms import About, Rooms
from parachute.connectors.platforms.matrix.writer import Writer
from parachute.connectors.platforms.models import ChatKind, Quote, Sender, Update
from parachute.connectors.platforms.texts import quoted

log = logging.getLogger("parachute.connector")

_REMEMBERED = 2_048
_NOBODY = "unknown"
"""The sender of what the home server tells without saying whose doing it was."""


class Messages:
    """Errors of its methods: ConnectionError, Problem where the room is not the bot's to see, Refused."""

    def __init__(
        self,
        rooms: Rooms,
        calls: Calls,
        downloads: Downloads,
        writer: Writer,
        position: Position,
        user: str,
    ) -> None:
        self._rooms = rooms
        self._calls = calls
        self._downloads = downloads
        self._writer = writer
        self._position = position
        self._user = user
        self._authors: OrderedDict[str, str] = OrderedDict()

    def know(self, room: str, state: Iterable[dict[str, Any]]) -> None:
        """Note what people are called; these events were before."""
        for event in state:
            if event.get("type") == translation.MEMBER:
                self._rooms.named(room, event)

    async def of(self, room: str, event: dict[str, Any]) -> list[Update]:
        """Return the updates for an event."""
        kind, sender = event.get("type"), translation.sender_of(event)
        if not identifier(EVENT, event.get("event_id")) or not sender:
            return []
        if kind == translation.MEMBER:
            return await self._member(room, event, sender)
        if "state_key" in event:
            self._rooms.changed(room)
            if kind == translation.ENCRYPTION:
                await self._encrypted(room)
            return []
        if sender == self._user:
            return []
        if kind == translation.ENCRYPTED:
            await self._encrypted(room)
            return []
        about = await self._rooms.about(room)
        if about.is_encrypted:
            return []
        if kind == translation.MESSAGE:
            return await self._message(event, about, sender)
        if kind == translation.REACTION:
            number = translation.number_of(text(relation(event).get("key")))
            return await self._chosen(event, about, sender, identifier(EVENT, relation(event).get("event_id")), number)
        if kind == translation.REDACTION:
            update = translation.of_redaction(event, about, self._rooms.sender(room, sender))
            return [update] if update else []
        return []

    async def _message(self, event: dict[str, Any], about: About, sender: str) -> list[Update]:
        target, reply = replaced(event), answered(event)
        self._authors[str(event["event_id"])] = sender
        if len(self._authors) > _REMEMBERED:
            self._authors.popitem(last=False)
        if target and await self._author(about.id, target) != sender:
            return []  # nobody changes what others have written
        who = self._rooms.sender(about.id, sender, is_bot=translation.is_automatic(event))
        is_answer = bool(reply) and self._writer.is_own(about.id, reply)
        files = () if target else await self._downloads.take(event)
        quote = await self._quote(about.id, reply) if reply and not is_answer and not target else None
        update = translation.of_message(event, about, who, self._user, is_answer=is_answer, files=files, quote=quote)
        number = translation.number_of(update.text) if is_answer and not files else 0
        chosen = await self._chosen(event, about, sender, reply, number)
        return chosen or ([update] if update.text or update.files else [])

    async def _chosen(
        self, event: dict[str, Any], about: About, sender: str, message: str, number: int
    ) -> list[Update]:
        if not number or not message or not self._writer.is_own(about.id, message):
            return []
        values = await self._calls.choices(about.id, message)
        if number > len(values):
            return []
        who = self._rooms.sender(about.id, sender)
        return [translation.of_choice(event, about, who, message, values[number - 1])]

    async def _member(self, room: str, event: dict[str, Any], sender: str) -> list[Update]:
        self._rooms.named(room, event)
        own = translation.own_membership(event, self._user)
        self._rooms.changed(room)
        if own == "join":
            return await self._joined(room, event)
        if own in ("leave", "ban"):
            kind: ChatKind = "private" if self._rooms.is_direct(room) else "group"
            await self._rooms.remove_direct(room)
            self._position.remove_encrypted(room)
            who = self._rooms.sender(room, sender)
            # What somebody has done, and not the bot itself, which leaves where it is of no use.
            return [] if sender == self._user else [translation.of_membership(event, About(room, kind), who, "left")]
        return []

    async def _joined(self, room: str, event: dict[str, Any]) -> list[Update]:
        await self._rooms.settle(room)
        about = await self._rooms.about(room)
        if about.is_encrypted:
            await self._encrypted(room)
            # It was made for the bot alone, which is of no use there.
            if about.kind == "private":
                await self._calls.leave(room)
            return []
        inviter = about.other or translation.inviter_of(event)
        if about.kind == "private" and not inviter:
            return []
        who = self._rooms.sender(room, inviter) if inviter else Sender(_NOBODY)
        return [translation.of_membership(event, about, who, "joined")]

    async def _encrypted(self, room: str) -> None:
        """Say once that a room cannot be read."""
        self._rooms.changed(room)
        if room in self._position.encrypted:
            return
        try:
            await self._calls.send_notice(room, transaction(room, "encrypted"), "encrypted")
        except Problem as problem:
            log.info("An encrypted room could not be told so: %s", problem)
        self._position.add_encrypted(room)

    async def _quote(self, room: str, message: str) -> Quote | None:
        """The message of somebody else to which another is the answer."""
        found = await self._calls.event(room, message)
        author = translation.sender_of(found)
        if not author or author == self._user or found.get("type") != translation.MESSAGE:
            return None
        is_reply = "m.in_reply_to" in relation(found)
        text = quoted(translation.said(mapping(found, "content"), is_reply=is_reply))
        return Quote(self._rooms.sender(room, author).name, text) if text else None

    async def _author(self, room: str, message: str) -> str:
        if (known := self._authors.get(message)) is not None:
            return known
        return translation.sender_of(await self._calls.event(room, message))
