"""The calls that write into rooms: each new message under an id of its own, under which it is written once however often it is sent."""

import json
import uuid
from hashlib import sha256
from pathlib import Path
from typing import Any

from parachute.connectors.platforms.matrix.api import CLIENT, Api, is_missing
from parachute.connectors.platforms.matrix.markup import is_plain, with_choices
from parachute.connectors.platforms.matrix.problems import Problem
from parachute.connectors.platforms.matrix.reading import EVENT, events, identifier, mapping, thread_of
from parachute.connectors.platforms.matrix.texts import say
from parachute.connectors.platforms.matrix.translation import MEMBER, MESSAGE, REACTION, keycap, own_membership
from parachute.connectors.platforms.models import Button, File
from parachute.connectors.platforms.shared_files import open_file

BUTTONS = "computer.parachute.buttons"
_EVENT_BYTES = 60_000
"""Of the 65,536 that an event may have the home server needs some for itself."""

_NOTICE = 200
_CHOICES = 10
_REMEMBERED = 1_000
_TYPING_SECONDS = 8
_FILE_BYTES = 50 * 1024 * 1024
_TYPES = {"picture": "m.image", "voice": "m.audio", "audio": "m.audio", "document": "m.file"}


def transaction(key: str, part: object) -> str:
    """The same for the same part of the same key, also in the next process."""
    return sha256(f"{key}\n{part}".encode()).hexdigest()[:40]


class Calls:
    """Calls about one room at a time. Errors of all: ConnectionError, Problem, Refused.

    `waits` False: what the home server wants to have later is a ConnectionError.
    """

    def __init__(self, api: Api, user: str, language: str, files: Path) -> None:
        self._api = api
        self._user = user
        self._language = language
        self._files = files
        self._largest: int | None = None
        self._threads: dict[str, str] = {}
        """The thread of each message that was answered last, by its event; empty for none."""

    async def create(
        self, room: str, written_as: str, text: str, buttons: tuple[Button, ...], where: dict[str, Any], *, waits: bool
    ) -> str:
        """Write a message, or find the one that was written under this id; its event. `where`: what `related` says."""
        content = self._content(text, buttons) | where
        return await self.send(room, MESSAGE, written_as, content, waits=waits)

    async def change(self, room: str, message: str, text: str, buttons: tuple[Button, ...], *, waits: bool) -> None:
        """Change a message; one that somebody has taken back stays so."""
        content = self._content(text, buttons)
        replacement = {
            "msgtype": "m.text",
            # What a program shows that does not know of changes.
            "body": f"* {text[:_NOTICE]}",
            "m.mentions": {},
            "m.new_content": content,
            "m.relates_to": {"rel_type": "m.replace", "event_id": message},
        }
        # Not the same for the same text: it may have been another one in between.
        await self.send(room, MESSAGE, uuid.uuid4().hex, replacement, waits=waits)

    async def offer(self, room: str, message: str, buttons: tuple[Button, ...]) -> None:
        """Put the numbers below a message, so that one tap answers it."""
        for number in range(1, min(len(buttons), _CHOICES) + 1):
            relation = {"rel_type": "m.annotation", "event_id": message, "key": keycap(number)}
            await self.send(room, REACTION, transaction(message, number), {"m.relates_to": relation})

    async def delete(self, room: str, message: str) -> None:
        """Take a message back, which may be gone."""
        try:
            await self._api.ask(
                "PUT", f"{CLIENT}/rooms", room, "redact", message, transaction(message, "gone"), body={}, chat=room
            )
        except Problem as problem:
            if not is_missing(problem):
                raise

    async def send_notice(self, room: str, written_as: str, sentence: str) -> None:
        """Say a sentence of the bot's own, as what programs write and programs do not answer."""
        content = {"msgtype": "m.notice", "body": say(self._language, sentence), "m.mentions": {}}
        await self.send(room, MESSAGE, written_as, content)

    async def send_file(self, room: str, written_as: str, file: File, where: dict[str, Any]) -> str:
        """Write a message with a file of the shared folder; its event."""
        try:
            found = open_file(self._files, file)
        except FileNotFoundError as error:
            raise Problem(str(error)) from error
        with found as opened:
            size = opened.seek(0, 2)
            if size > (limit := await self._limit()):
                raise Problem(f"The home server takes files of {limit / 1024 / 1024:.0f} MB at most.", "M_TOO_LARGE")
            name = file.name or "file"
            uri = await self._api.upload(opened, size, name, file.media_type)
        content: dict[str, Any] = {
            "msgtype": _TYPES[file.kind],
            "body": name,
            "filename": name,
            "url": uri,
            "info": {"mimetype": file.media_type, "size": size},
            "m.mentions": {},
        }
        if file.kind == "voice":
            content["org.matrix.msc3245.voice"] = {}
        content |= where
        return await self.send(room, MESSAGE, written_as, content)

    async def typing(self, room: str, *, is_on: bool) -> None:
        """Show for some seconds that something is being written, or no more."""
        body: dict[str, Any] = {"typing": is_on}
        if is_on:
            body["timeout"] = _TYPING_SECONDS * 1000
        await self._api.ask("PUT", f"{CLIENT}/rooms", room, "typing", self._user, body=body, chat=room, waits=False)

    async def event(self, room: str, event: str) -> dict[str, Any]:
        """An event by its id; empty if there is none that the bot may see."""
        try:
            return await self._api.ask("GET", f"{CLIENT}/rooms", room, "event", event)
        except Problem:
            return {}

    async def choices(self, room: str, message: str) -> tuple[str, ...]:
        """The values of the buttons that a message of the bot has had."""
        found = await self.event(room, message)
        if found.get("sender") != self._user:
            return ()
        values = mapping(found, "content").get(BUTTONS)
        return tuple(map(str, values)) if isinstance(values, list) else ()

    async def between(
        self, room: str, since: str, until: str
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
        """Return people's memberships, some events of a room between two positions, and the position of the next."""
        query = {"from": since, "to": until, "dir": "f", "limit": "100", "filter": '{"lazy_load_members":true}'}
        found = await self._api.ask("GET", f"{CLIENT}/rooms", room, "messages", query=query)
        end = found.get("end")
        return events(found.get("state")), events(found.get("chunk")), end if isinstance(end, str) else ""

    async def joined_between(self, room: str, since: str, until: str) -> str:
        """The event by which the bot came into a room behind a position and before another; empty if it was there."""
        wanted = json.dumps({"types": [MEMBER], "senders": [self._user]})
        query = {"from": until, "to": since, "dir": "b", "limit": "10", "filter": wanted}
        found = await self._api.ask("GET", f"{CLIENT}/rooms", room, "messages", query=query)
        joins = (each for each in events(found.get("chunk")) if own_membership(each, self._user) == "join")
        return next((identifier(EVENT, each.get("event_id")) for each in joins), "")

    async def leave(self, room: str) -> None:
        """Leave a room."""
        await self._api.ask("POST", f"{CLIENT}/rooms", room, "leave", body={})

    async def send(self, room: str, kind: str, written_as: str, content: dict[str, Any], *, waits: bool = True) -> str:
        """Write an event under an id, and return the event's; the one that was written under it before, if one was."""
        answer = await self._api.ask(
            "PUT", f"{CLIENT}/rooms", room, "send", kind, written_as, body=content, chat=room, waits=waits
        )
        if not (event := identifier(EVENT, answer.get("event_id"))):
            raise ConnectionError("The home server accepted a message but returned no id for it.")
        return event

    def _content(self, text: str, buttons: tuple[Button, ...]) -> dict[str, Any]:
        plain, rendered = with_choices(text, buttons, say(self._language, "choose"))
        # Nobody is called by what an agent was led to write.
        content: dict[str, Any] = {"msgtype": "m.text", "body": plain, "m.mentions": {}}
        if buttons:
            content[BUTTONS] = [button.value for button in buttons]
        if not is_plain(plain, rendered):
            full = {**content, "format": "org.matrix.custom.html", "formatted_body": rendered}
            # Few letters may become many signs of HTML.
            if len(json.dumps(full, ensure_ascii=False).encode()) <= _EVENT_BYTES:
                return full
        return content

    async def related(self, room: str, answers: str, *, is_reply: bool) -> dict[str, Any]:
        """Return the part of a message's content that makes it a reply, or puts it into the thread of what is answered."""
        if not identifier(EVENT, answers):
            return {}
        if answers not in self._threads:
            if len(self._threads) > _REMEMBERED:
                self._threads.clear()
            self._threads[answers] = thread_of(await self.event(room, answers))
        reply = {"m.in_reply_to": {"event_id": answers}}
        if thread := self._threads[answers]:
            return {
                "m.relates_to": {"rel_type": "m.thread", "event_id": thread, "is_falling_back": not is_reply, **reply}
            }
        return {"m.relates_to": reply} if is_reply else {}

    async def _limit(self) -> int:
        """Return the size of the largest file that the home server takes."""
        if self._largest is None:
            try:
                found = (await self._api.ask("GET", "/_matrix/client/v1/media/config")).get("m.upload.size")
            except Problem:
                found = None
            self._largest = min(found, _FILE_BYTES) if isinstance(found, int) and found > 0 else _FILE_BYTES
        return self._largest
