"""A request of somebody unknown to talk to a bot."""

from datetime import datetime, timedelta

from msgspec import Struct
from pydantic import BaseModel

from parachute.base.clock import as_text
from parachute.base.errors import NotFound
from parachute.connectors.chats.models import ChatType, chat_type
from parachute.connectors.configuration.models import Platform
from parachute.connectors.platforms.available import label
from parachute.connectors.platforms.models import ChatKind
from parachute.web.pairing.models import shown

WAITS = {"private": timedelta(minutes=10), "group": timedelta(days=1)}
"""A group is told no code that could be guessed, and its owner is seldom there in the minute in which it was added."""

MOST_WAITING = 3
"""Of each kind: a flood of strangers fills no list, and no group keeps people out."""


class PairingRequestShown(BaseModel):
    """Somebody who wants to talk to a bot: `name` and `title` are what they call themselves; a group has no code."""

    id: str
    platform: Platform
    chat_id: str
    chat_type: ChatType
    user_id: str
    name: str
    title: str
    code: str | None
    session_id: str
    since: str
    ends: str


class PairingRequest(Struct, frozen=True):
    """A request: its `code` was told to the sender and is shown to the owner, who compares the two; a group has none.

    `session` is the conversation that waits with it.
    """

    id: str
    platform: Platform
    chat: str
    kind: ChatKind
    sender: str
    name: str
    title: str
    code: str
    session: str
    since: str

    @property
    def ends(self) -> datetime:
        """Return the time at which it expires."""
        return datetime.fromisoformat(self.since) + WAITS[self.kind]

    def is_over(self, now: datetime) -> bool:
        """True if nobody has answered in time; a clock that was set back lets none wait for longer."""
        return not self.ends - WAITS[self.kind] - timedelta(minutes=1) <= now < self.ends

    @property
    def label(self) -> str:
        """Return a description of it, by ids alone."""
        place = f"a group on {label(self.platform)}" if self.kind == "group" else label(self.platform)
        return f"{self.sender} on {place}" if self.kind == "private" else f"{place} ({self.chat})"

    def shown(self) -> PairingRequestShown:
        """The form of the API."""
        return PairingRequestShown(
            id=self.id,
            platform=self.platform,
            chat_id=self.chat,
            chat_type=chat_type(self.kind),
            user_id=self.sender,
            name=self.name,
            title=self.title,
            code=shown(self.code) if self.code else None,
            session_id=self.session,
            since=self.since,
            ends=as_text(self.ends),
        )


def not_waiting() -> NotFound:
    """The error for a request that somebody has answered, or whose time is over."""
    return NotFound(
        "This request is not waiting.",
        "`parachute bots pairing list` shows those that do.",
        key="not_waiting",
    )
