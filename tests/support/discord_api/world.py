"""Data of the fake Discord: users, servers (guilds), channels and their messages, as the documents of its API."""

import itertools
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

EPOCH = 1420070400000
BOT = "900000000000000001"
APPLICATION = "900000000000000009"
TEXT, PRIVATE, THREAD = 0, 1, 11
MESSAGE_CONTENT = 1 << 15
SEND, HISTORY, ALL = 1 << 11, 1 << 16, (1 << 50) - 1


class Ids:
    """Snowflakes: milliseconds since 2015, and a counter."""

    def __init__(self) -> None:
        self._counter = itertools.count()
        self._lock = threading.Lock()
        self.skew = 0.0
        """Seconds by which Discord's clock differs from ours."""

    def next(self) -> str:
        with self._lock:
            count = next(self._counter)
        return str((int((time.time() + self.skew) * 1000) - EPOCH + count << 22) + count % 4096)

    def now(self) -> str:
        return datetime.fromtimestamp(time.time() + self.skew, UTC).isoformat()


_THREAD = {
    "owner_id": "1",
    "message_count": 0,
    "member_count": 1,
    "thread_metadata": {
        "archived": False,
        "auto_archive_duration": 1440,
        "archive_timestamp": "2026-01-01T00:00:00+00:00",
        "locked": False,
    },
}


@dataclass
class Channel:
    """A channel with its messages by id, as the API shows them."""

    id: str
    kind: int
    name: str
    guild: str | None
    recipient: dict[str, Any] | None = None
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    nonces: dict[str, str] = field(default_factory=dict)
    typing: int = 0
    is_open: bool = True
    """True if the bot may read and write there."""
    parent: str | None = None
    """The channel in which a thread was begun."""

    def document(self) -> dict[str, Any]:
        last = next(reversed(self.messages), None)
        document: dict[str, Any] = {"id": self.id, "type": self.kind, "last_message_id": last}
        if self.guild is None:
            return document | {"recipients": [self.recipient]}
        return document | {
            "guild_id": self.guild,
            "name": self.name,
            "position": 0,
            "permission_overwrites": [],
            "nsfw": False,
            "parent_id": self.parent,
            "topic": None,
            "rate_limit_per_user": 0,
            **(_THREAD if self.parent else {}),
        }


@dataclass
class Guild:
    """A server with the bot as a member."""

    id: str
    name: str
    joined: str
    channels: list[Channel] = field(default_factory=list)

    def document(self, bot: dict[str, Any]) -> dict[str, Any]:
        role = {"id": self.id, "name": "@everyone", "color": 0, "hoist": False, "position": 0, "managed": False}
        role |= {"permissions": str(ALL), "mentionable": False, "flags": 0}
        role |= {"colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None}}
        nothing = ("emojis", "features", "stickers", "voice_states", "presences", "threads", "stage_instances")
        zeros = (
            "verification_level",
            "default_message_notifications",
            "explicit_content_filter",
            "mfa_level",
            "system_channel_flags",
            "premium_tier",
            "nsfw_level",
            "afk_timeout",
        )
        return {
            "id": self.id,
            "name": self.name,
            "owner_id": "1",
            "roles": [role],
            "members": [member(bot) | {"joined_at": self.joined}],
            "member_count": 2,
            "joined_at": self.joined,
            "large": False,
            "preferred_locale": "en-US",
            "system_channel_id": self.channels[0].id if self.channels else None,
            "channels": [channel.document() for channel in self.channels],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
            **{name: [] for name in nothing},
            **dict.fromkeys(zeros, 0),
        }


def member(user: dict[str, Any]) -> dict[str, Any]:
    return {
        "user": user,
        "nick": None,
        "roles": [],
        "joined_at": "2026-01-01T00:00:00+00:00",
        "deaf": False,
        "mute": False,
        "flags": 0,
    }


def user(number: str, name: str, *, bot: bool = False) -> dict[str, Any]:
    return {
        "id": number,
        "username": name,
        "discriminator": "0",
        "global_name": None if bot else name,
        "avatar": None,
        "bot": bot,
        "public_flags": 0,
    }
