"""Requests and answers of the routes of bots (contract, section 8)."""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from parachute.connectors.chats.models import ChatType, LinkedChat, chat_type
from parachute.connectors.configuration.models import (
    NUMBERED,
    PLATFORMS,
    Configuration,
    NoticeSettings,
    Platform,
    ResponseMode,
    for_each,
)
from parachute.connectors.deliveries.store import Delivery
from parachute.connectors.pairing.models import PairingRequestShown


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

    @classmethod
    def of(cls, configuration: Configuration, has_token: Mapping[Platform, bool]) -> Self:
        """Settings in the form of the app, in which users may be numbers and no token is ever shown."""
        document = configuration.model_dump()
        for name in PLATFORMS:
            document[name]["has_token"] = has_token[name]
        for name in NUMBERED:
            document[name]["allowed_users"] = [int(each) for each in document[name]["allowed_users"]]
        return cls.model_validate(document)


class Outcome(BaseModel):
    """Success; an error has `success` false, and its sentence in `error`."""

    success: bool = True
    error: str | None = None


class TestOutcome(Outcome):
    """Identity of the bot on its platform."""

    bot_name: str | None = None
    bot_id: str | None = None


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
    chat_type: ChatType
    title: str
    session_id: str | None
    template: str
    approved_at: str
    approved_by: str
    is_owner: bool
    usage_subject: str

    @classmethod
    def of(cls, chat: LinkedChat) -> Self:
        """A chat in the form of the API."""
        return cls(
            platform=chat.platform,
            chat_id=chat.chat,
            chat_type=chat_type(chat.kind),
            title=chat.title,
            session_id=chat.session,
            template=chat.template,
            approved_at=chat.approved_at,
            approved_by=chat.approved_by,
            is_owner=chat.is_owner,
            usage_subject=chat.subject,
        )


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

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        """A message in the form of the API."""
        return cls(
            id=delivery.number,
            platform=delivery.platform,
            chat_id=delivery.outgoing.chat.id,
            text=delivery.words,
            problem=delivery.problem or None,
            tries=delivery.tries,
            since=delivery.since,
        )


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
