"""People in rooms of any home server: their messages, and the bot's as they see them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

BOT = "@parachute:home.test"


@dataclass
class Written:
    """A message of the bot as a room shows it: its text now, and every one that it had."""

    id: str
    content: dict[str, Any]
    texts: list[str]
    reactions: list[str] = field(default_factory=list)
    is_gone: bool = False

    @property
    def text(self) -> str:
        return str(self.content["body"])

    @property
    def html(self) -> str:
        return str(self.content.get("formatted_body", ""))

    @property
    def answers(self) -> str | None:
        found = self.content.get("m.relates_to", {}).get("m.in_reply_to", {}).get("event_id")
        return str(found) if found else None


class People(ABC):
    """The part that is the same at each home server."""

    @abstractmethod
    def direct(self, user: str, *, is_encrypted: bool = False) -> str:
        """Somebody begins a private chat with the bot."""

    @abstractmethod
    def group(self, user: str, title: str = "Family", *others: str, is_encrypted: bool = False) -> str:
        """Somebody makes a room with others, and invites the bot."""

    @abstractmethod
    def put(self, room: str, user: str, kind: str, content: dict[str, Any], state_key: str | None = None) -> str:
        """Somebody sends an event, or changes the state of a room; its id."""

    @abstractmethod
    def events(self, room: str) -> Iterable[dict[str, Any]]:
        """All events of a room, from the first on."""

    @abstractmethod
    def membership(self, room: str) -> str:
        """The bot's membership in a room."""

    def write(self, room: str, user: str, body: str, **content: Any) -> str:
        """Somebody writes a message; its event."""
        return self.put(room, user, "m.room.message", {"msgtype": "m.text", "body": body, **content})

    def answer(self, room: str, user: str, message: str, body: str, **content: Any) -> str:
        """Somebody answers a message."""
        return self.write(room, user, body, **{"m.relates_to": {"m.in_reply_to": {"event_id": message}}, **content})

    def edit(self, room: str, user: str, message: str, body: str) -> str:
        """Somebody changes a message."""
        relation = {"rel_type": "m.replace", "event_id": message}
        new = {"msgtype": "m.text", "body": body}
        return self.write(room, user, f"* {body}", **{"m.new_content": new, "m.relates_to": relation})

    def react(self, room: str, user: str, message: str, key: str) -> str:
        """Somebody reacts to a message."""
        relation = {"rel_type": "m.annotation", "event_id": message, "key": key}
        return self.put(room, user, "m.reaction", {"m.relates_to": relation})

    def encrypt(self, room: str, user: str) -> None:
        """Somebody has a room encrypted from now on."""
        self.put(room, user, "m.room.encryption", {"algorithm": "m.megolm.v1.aes-sha2"}, state_key="")

    def is_in(self, room: str) -> bool:
        """Return whether the bot is in a room."""
        return self.membership(room) == "join"

    def texts(self, room: str) -> list[str]:
        """The texts of the bot's messages that a room shows."""
        return [each.text for each in self.written(room)]

    def written(self, room: str) -> list[Written]:
        """Return the bot's messages that a room shows."""
        found: dict[str, Written] = {}
        for document in self.events(room):
            content = document["content"]
            relation = content.get("m.relates_to", {})
            if document["type"] == "m.reaction" and relation.get("event_id") in found and document["sender"] == BOT:
                found[relation["event_id"]].reactions.append(relation["key"])
            if document["type"] == "m.room.redaction" and document["redacts"] in found:
                found[document["redacts"]].is_gone = True
            if document["type"] != "m.room.message" or document["sender"] != BOT:
                continue
            if relation.get("rel_type") == "m.replace":
                if relation["event_id"] in found:
                    changed = found[relation["event_id"]]
                    changed.content = content["m.new_content"]
                    changed.texts.append(changed.text)
            elif content:
                found[document["event_id"]] = Written(document["event_id"], content, [content["body"]])
        return [each for each in found.values() if not each.is_gone]
