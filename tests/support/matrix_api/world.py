"""Data of the fake home server: rooms with their events in one stream, the bot's account data, and files."""

import itertools
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.messenger_api import Refusal

from .people import BOT

TOKEN = "syt_ZmFrZQ_TokenOfATestThatNobodyElseKnows_00"
DIRECT = "m.direct"
_EVENT_BYTES = 65_536
_NEEDED = 1_500
"""Bytes that hashes, signatures and references add to an event."""


class Wrong(Refusal):
    """A refusal of the API."""

    def __init__(self, status: int, code: str, error: str = "", **fields: Any) -> None:
        super().__init__(status, {"errcode": code, "error": error or code, **fields})


@dataclass
class Event:
    """An event with its place in the stream."""

    place: int
    content: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.content["event_id"])

    @property
    def is_state(self) -> bool:
        return "state_key" in self.content


@dataclass
class Room:
    """A room: its events, and the newest of each kind of state."""

    id: str
    events: list[Event] = field(default_factory=list)
    state: dict[tuple[str, str], Event] = field(default_factory=dict)
    transactions: dict[tuple[str, str], str] = field(default_factory=dict)
    typing: list[bool] = field(default_factory=list)

    def membership(self, user: str) -> str:
        found = self.state.get(("m.room.member", user))
        return found.content["content"]["membership"] if found else "leave"

    def event(self, identifier: str) -> Event:
        for event in self.events:
            if event.id == identifier:
                return event
        raise Wrong(404, "M_NOT_FOUND", "Event not found.")


class World:
    """All rooms; methods may be called from any thread."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.rooms: dict[str, Room] = {}
        self.direct: dict[str, list[str]] | None = None
        self.direct_place = 0
        self.place = 0
        self.files: dict[str, tuple[str, bytes]] = {}
        self.names: dict[str, str] = {}
        self.now: Callable[[], float] = time.time
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()
        self._changed = changed

    def number(self) -> int:
        """A number that was not used."""
        return next(self._numbers)

    def put(self, room: str, sender: str, kind: str, content: dict[str, Any], **fields: Any) -> str:
        """Something happens in a room; the event's id."""
        with self._lock:
            where = self.rooms.setdefault(room, Room(room))
            self.place += 1
            number = self.number()
            document: dict[str, Any] = {
                "event_id": f"$event{number:06}-{'x' * 30}",
                "room_id": room,
                "sender": sender,
                "type": kind,
                "origin_server_ts": int(self.now() * 1000),
                "content": content,
                "unsigned": {},
                **fields,
            }
            size = len(json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass"))
            if size + _NEEDED > _EVENT_BYTES:
                raise Wrong(413, "M_TOO_LARGE", "event too large")
            event = Event(self.place, document)
            if event.is_state:
                before = where.state.get((kind, document["state_key"]))
                if before is not None:
                    document["unsigned"] |= {
                        "prev_content": before.content["content"],
                        "prev_sender": before.content["sender"],
                    }
                where.state[(kind, document["state_key"])] = event
            where.events.append(event)
        self._changed()
        return event.id

    def send(self, room: str, kind: str, transaction: str, content: dict[str, Any]) -> str:
        """The bot writes; under an id that was used before, the event of then."""
        with self._lock:
            where = self.joined(room)
            if (known := where.transactions.get((kind, transaction))) is not None:
                return known
            self._check_relation(where, content.get("m.relates_to", {}))
            event = self.put(room, BOT, kind, content)
            where.event(event).content["unsigned"]["transaction_id"] = transaction
            where.transactions[(kind, transaction)] = event
            return event

    def _check_relation(self, room: Room, relation: dict[str, Any]) -> None:
        """Refuse what Synapse refuses: the change of a message of another room, and a reaction that is there."""
        related = relation.get("event_id")
        if any(each.id == related for other in self.rooms.values() if other is not room for each in other.events):
            raise Wrong(400, "M_UNKNOWN", "Relations must be in the same room")
        if relation.get("rel_type") == "m.annotation" and any(
            each.content["sender"] == BOT and each.content["content"].get("m.relates_to") == relation
            for each in room.events
        ):
            raise Wrong(400, "M_DUPLICATE_ANNOTATION", "Can't send same reaction twice")

    def redact(self, room: str, target: str, sender: str) -> str:
        """Somebody takes an event back."""
        with self._lock:
            found = self.joined(room).event(target)
            found.content["content"] = {}
            found.content["unsigned"]["redacted_because"] = {"sender": sender}
        return self.put(room, sender, "m.room.redaction", {"redacts": target}, redacts=target)

    def joined(self, room: str) -> Room:
        """A room that the bot is in."""
        found = self.rooms.get(room)
        if found is None or found.membership(BOT) != "join":
            raise Wrong(403, "M_FORBIDDEN", f"User {BOT} not in room {room}")
        return found

    def member(self, room: str, user: str, membership: str, by: str, **content: Any) -> str:
        """Somebody comes, goes, or is invited."""
        about = {"membership": membership, "displayname": self.names.get(user, user), **content}
        return self.put(room, by, "m.room.member", about, state_key=user)

    def set_direct(self, content: dict[str, list[str]]) -> None:
        """The account's list of direct chats."""
        with self._lock:
            self.place += 1
            self.direct, self.direct_place = content, self.place
        self._changed()
