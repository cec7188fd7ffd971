"""A chat that the owner let in."""

import unicodedata
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.chat_ids import group_of
from parachute.connectors.configuration.models import Platform
from parachute.connectors.platforms.available import platform
from parachute.connectors.platforms.models import Chat, ChatKind
from parachute.llm.gateway.limits import guest_subject

ChatType = Literal["dm", "group"]
_NAME = 60


class LinkedChat(Struct, frozen=True):
    """A chat of a platform that may talk to the bot, by its id; in a private one only this `sender` is heard.

    `is_owner`: the owner has shown a code there. `session` is its conversation; until `is_prepared` its permissions are not set.
    `earlier`: the id that it had before it became another one on its platform. A topic of a group is a chat of its own.
    """

    platform: Platform
    chat: str
    kind: ChatKind
    sender: str
    title: str
    template: str
    approved_at: str
    approved_by: str
    session: str | None = None
    is_prepared: bool = False
    is_owner: bool = False
    earlier: str = ""

    @property
    def sign(self) -> str:
        """With what a command begins."""
        return platform(self.platform).sign

    @property
    def group(self) -> str:
        """The chat that was let in: this one, or of a topic its group."""
        return group_of(self.chat)

    @property
    def place(self) -> Chat:
        """The chat as the connector knows it."""
        return Chat(self.chat, self.kind, self.title)

    @property
    def subject(self) -> str:
        """For what its use of models counts."""
        return guest_subject(self.platform, self.group)


def topic_of(group: LinkedChat, place: Chat) -> LinkedChat:
    """A topic of a group that was let in, with a conversation of its own."""
    title = " · ".join(filter(None, (group.title, shown_name(place.topic))))[:_NAME]
    return replace(group, chat=place.id, title=title, session=None, is_prepared=False, earlier="")


def chat_type(kind: ChatKind) -> ChatType:
    """The word of the specification for a kind of chat."""
    return "dm" if kind == "private" else "group"


def shown_name(text: str) -> str:
    """Return a person's own name on one short line, without what turns or hides text: it proves nothing."""
    kept = "".join(each for each in text if unicodedata.category(each)[0] != "C" or each.isspace())
    return " ".join(kept.split())[:_NAME]
