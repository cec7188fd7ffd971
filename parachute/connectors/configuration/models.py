"""The settings of bots, as `bots.yaml` and `config.yaml` have them and as the app sends them (contract, section 8)."""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from parachute.base.errors import InvalidInput
from parachute.chat.permissions.templates import template
from parachute.config.settings.groups.messengers import QuietHours
from parachute.config.settings.groups.values import MOST_DOLLARS, MOST_TOKENS
from parachute.connectors.platforms.available import names, platform
from parachute.security.trust_levels import normalize_trust_level

Platform = str
PLATFORMS: tuple[Platform, ...] = names()

_MOST_USERS = 500

M = TypeVar("M", bound=BaseModel)


def _sandboxed(word: str) -> str:
    try:
        level = normalize_trust_level(word)
    except InvalidInput as error:
        raise ValueError(str(error.message).removeprefix("trustLevel: ")) from error
    if level == "direct":
        raise ValueError("what others write is always answered in a sandbox; expected `sandboxed`")
    return level


def _template(name: str) -> str:
    try:
        return template(name).name
    except InvalidInput as error:
        raise ValueError(str(error.message).removeprefix("template: ")) from error


def _identifier(value: object) -> object:
    # Telegram's ids are numbers, for the app as well.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


TrustWord = Annotated[str, Field(max_length=40), AfterValidator(_sandboxed)]
TemplateName = Annotated[str, Field(max_length=40), AfterValidator(_template)]
UserId = Annotated[str, Field(pattern=r"^[0-9A-Za-z!@:._-]{1,200}$"), BeforeValidator(_identifier)]
Server = Annotated[str, Field(max_length=500, pattern=r"^(https?://[^\s/?#@]+/?)?$")]
ResponseMode = Literal["all_messages", "mention_only"]

NUMBERED = tuple(name for name in PLATFORMS if platform(name).has_numbers)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def for_each(bot: Any, room_bot: Any) -> Callable[[type[M]], type[M]]:
    """Give a model a field for each platform: a type and its default."""
    fields: dict[str, Any] = {name: room_bot if platform(name).has_rooms else bot for name in PLATFORMS}

    def given(model: type[M]) -> type[M]:
        return create_model(
            model.__name__, __base__=model, __doc__=model.__doc__, __module__=model.__module__, **fields
        )

    return given


class BotSettings(_Strict):
    """One platform's bot. `allowed_users` may write to it without being asked about; `template` is what a new chat may use.

    A new chat may use models for so much a day; `server_url` is a server of the owner's that speaks as the platform's own.
    """

    enabled: bool = False
    dm_trust_level: TrustWord = "sandboxed"
    group_trust_level: TrustWord = "sandboxed"
    allowed_users: list[UserId] = Field(default=[], max_length=_MOST_USERS)
    template: TemplateName = "guest"
    daily_dollars: float | None = Field(default=1.0, ge=0, le=MOST_DOLLARS, allow_inf_nan=False)
    daily_tokens: int | None = Field(default=500_000, ge=0, le=MOST_TOKENS)
    server_url: Server = ""

    @property
    def address(self) -> str:
        """The server that the connector speaks to; empty for the platform's own."""
        return self.server_url


class RoomBotSettings(_Strict):
    """The bot of a platform of rooms."""

    enabled: bool = False
    dm_trust_level: TrustWord = "sandboxed"
    group_trust_level: TrustWord = "sandboxed"
    homeserver_url: Server = ""
    user_id: str = Field(default="", max_length=255, pattern=r"^(@[^\s:]+:[^\s]+)?$")
    allowed_rooms: list[UserId] = Field(default=[], max_length=_MOST_USERS)
    template: TemplateName = "guest"
    daily_dollars: float | None = Field(default=1.0, ge=0, le=MOST_DOLLARS, allow_inf_nan=False)
    daily_tokens: int | None = Field(default=500_000, ge=0, le=MOST_TOKENS)

    @property
    def address(self) -> str:
        """The server that the connector speaks to."""
        return self.homeserver_url

    @property
    def allowed_users(self) -> list[str]:
        """Nobody: its list is of rooms."""
        return []


class NoticeSettings(QuietHours):
    """Parts of the inbox of which the owner's own chat is told beside the questions of bots; nothing between the two times of quiet hours."""

    model_config = ConfigDict(strict=True)

    enabled: bool = False


@for_each((BotSettings, BotSettings()), (RoomBotSettings, RoomBotSettings()))
class Configuration(_Strict):
    """All of `bots.yaml`, and of `config.yaml` what holds for every messenger."""

    language: Literal["en", "de"] = "en"
    notices: NoticeSettings = NoticeSettings()

    @model_validator(mode="after")
    def _check_users(self) -> Self:
        # The app reads numbers there, and breaks on anything else.
        for name in NUMBERED:
            if not all(re.fullmatch(r"[0-9]{1,20}", each) for each in self.of(name).allowed_users):
                raise ValueError(f"{name}.allowed_users: expected the numbers of users")
        return self

    def of(self, name: Platform) -> BotSettings | RoomBotSettings:
        """The settings of one platform."""
        found: BotSettings | RoomBotSettings = getattr(self, name)
        return found


Token = Annotated[str, Field(max_length=4096)]


class BotChanges(_Strict):
    """Changes of one platform's bot; what is absent stays, and an empty `bot_token` too."""

    enabled: bool | None = None
    dm_trust_level: TrustWord | None = None
    group_trust_level: TrustWord | None = None
    allowed_users: list[UserId] | None = Field(default=None, max_length=_MOST_USERS)
    template: TemplateName | None = None
    server_url: Server | None = None
    daily_dollars: float | None = Field(default=None, ge=0, le=MOST_DOLLARS, allow_inf_nan=False)
    daily_tokens: int | None = Field(default=None, ge=0, le=MOST_TOKENS)
    bot_token: Token | None = None
    has_token: bool | None = None


class RoomBotChanges(_Strict):
    """Changes of the bot of a platform of rooms."""

    enabled: bool | None = None
    dm_trust_level: TrustWord | None = None
    group_trust_level: TrustWord | None = None
    homeserver_url: Server | None = None
    user_id: str | None = None
    allowed_rooms: list[UserId] | None = Field(default=None, max_length=_MOST_USERS)
    template: TemplateName | None = None
    daily_dollars: float | None = Field(default=None, ge=0, le=MOST_DOLLARS, allow_inf_nan=False)
    daily_tokens: int | None = Field(default=None, ge=0, le=MOST_TOKENS)
    access_token: Token | None = None
    has_token: bool | None = None


@for_each((BotChanges | None, None), (RoomBotChanges | None, None))
class ConfigurationChanges(_Strict):
    """Changes of bots; what is absent stays as it is. A limit of null is taken away."""

    language: Literal["en", "de"] | None = None
    notices: NoticeSettings | None = None

    def of(self, name: Platform) -> dict[str, Any]:
        """Return the changes sent for a platform, without its token."""
        changes: BotChanges | RoomBotChanges | None = getattr(self, name)
        if changes is None:
            return {}
        sent = changes.model_dump(exclude_unset=True, exclude={"bot_token", "access_token", "has_token"})
        return {name: value for name, value in sent.items() if value is not None or name.startswith("daily_")}

    def token(self, name: Platform) -> str | None:
        """The token that was sent of a platform, if one was."""
        match getattr(self, name):
            case BotChanges(bot_token=token) | RoomBotChanges(access_token=token):
                return token or None
        return None
