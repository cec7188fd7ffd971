"""Requests and answers of the routes of bots (contract, section 8)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from parachute.connectors.configuration.models import NoticeSettings, Platform, ResponseMode, for_each


class ConnectorStatus(BaseModel):
    """Status of one bot, whose platform people call `label`: `reason` says why it does not run, or waits; `unsent` is still tried, `undelivered` no more."""

    label: str
    running: bool
    enabled: bool
    has_token: bool
    state: Literal["stopped", "connecting", "connected", "waiting", "refused"]
    reason: str | None
    bot_name: str | None
    waiting_messages: int
    unsent: int
    undelivered: int


class BotsStatus(BaseModel):
    """All bots by platform."""

    connectors: dict[str, ConnectorStatus]


class BotConfigurationShown(BaseModel):
    """The settings of one bot; a token is never shown."""

    enabled: bool
    has_token: bool
    dm_trust_level: str
    group_trust_level: str
    allowed_users: list[int | str]
    template: str
    daily_dollars: float | None
    daily_tokens: int | None
    server_url: str


class RoomBotConfigurationShown(BaseModel):
    """The settings of the bot of a platform of rooms."""

    enabled: bool
    has_token: bool
    dm_trust_level: str
    group_trust_level: str
    homeserver_url: str
    user_id: str
    allowed_rooms: list[str]
    template: str
    daily_dollars: float | None
    daily_tokens: int | None


@for_each((BotConfigurationShown, ...), (RoomBotConfigurationShown, ...))
class ConfigurationShown(BaseModel):
    """The settings of all bots."""

    language: Literal["en", "de"]
    notices: NoticeSettings


class Outcome(BaseModel):
    """Success, or the reason of a failure."""

    success: bool
    error: str | None = None


class TestOutcome(Outcome):
    """Identity of the bot on its platform."""

    bot_name: str | None = None
    bot_id: str | None = None


class PairingRequestShown(BaseModel):
    """Somebody who wants to talk to a bot: `name` and `title` are what they call themselves; a group has no code."""

    id: str
    platform: Platform
    chat_id: str
    chat_type: Literal["dm", "group"]
    user_id: str
    name: str
    title: str
    code: str | None
    session_id: str
    since: str
    ends: str


class PairingRequests(BaseModel):
    """Everybody who waits, the oldest first."""

    requests: list[PairingRequestShown]


class PairingCount(BaseModel):
    """Number of waiting requests."""

    pending: int


class LinkedChatShown(BaseModel):
    """A chat that may talk to a bot; `usage_subject` is whose limit of spending holds for it."""

    platform: Platform
    chat_id: str
    chat_type: Literal["dm", "group"]
    title: str
    session_id: str | None
    template: str
    approved_at: str
    approved_by: str
    is_owner: bool
    usage_subject: str


class LinkedChats(BaseModel):
    """Every chat that was let in."""

    chats: list[LinkedChatShown]


class Approved(Outcome):
    """The chat that was let in."""

    chat: LinkedChatShown | None = None


class OwnerCode(BaseModel):
    """A code for the owner's own private chat, which takes it by the `command` within ten minutes."""

    code: str
    command: str
    ends: str


class DeliveryShown(BaseModel):
    """A message that could not be delivered, and why."""

    id: int
    platform: Platform
    chat_id: str
    text: str
    problem: str | None
    tries: int
    since: str


class Undelivered(BaseModel):
    """Failed deliveries, the newest first."""

    messages: list[DeliveryShown]


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class NewToken(_Body):
    """A bot's token."""

    token: str = Field(min_length=1, max_length=4096)


class ApprovalBody(_Body):
    """With a yes: a trust word, of which only `sandboxed` lets others in, a template of permissions, and how a group is answered."""

    trust_level: str | None = Field(default=None, max_length=40)
    template: str | None = Field(default=None, max_length=40)
    response_mode: ResponseMode | None = None
    mention_pattern: str | None = Field(default=None, max_length=500)
