"""A chat that the owner let in."""

import unicodedata
from typing import Literal

from msgspec import Struct

from parachute.connectors.configuration.models import Platform
from parachute.connectors.platforms.available import platform
from parachute.connectors.platforms.models import Chat, ChatKind
from parachute.llm.gateway.limits import guest_subject

ChatType = Literal["dm", "group"]
_NAME = 60


class LinkedChat(Struct, frozen=True):
    """A chat of a platform that may talk to the bot, by its id; in a private one only this `sender` is heard.

    `is_owner`: the owner has shown a code there. `session` is its conversation; until `is_prepared` its permissions are not set.
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

    @property
    def sign(self) -> str:
        """With what a command begins."""
        return platform(self.platform).sign

    @property
    def place(self) -> Chat:
        """The chat as the connector knows it."""
        return Chat(self.chat, self.kind, self.title)

    @property
    def subject(self) -> str:
        """For what its use of models counts."""
        return guest_subject(self.platform, self.chat)


def chat_type(kind: ChatKind) -> ChatType:
    """The word of the specification for a kind of chat."""
    return "dm" if kind == "private" else "group"


def shown_name(text: str) -> str:
    """Return a person's own name on one short line, without what turns or hides text: it proves nothing."""
    kept = "".join(each for each in text if unicodedata.category(each)[0] != "C" or each.isspace())
    return " ".join(kept.split())[:_NAME]
