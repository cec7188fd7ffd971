"""Bots, as the app reads them."""

from pydantic import Field

from .dart import Snake


class Connector(Snake):
    """Of a connector the app reads whether it runs."""

    running: bool


class Connectors(Snake):
    """The three platforms that the app knows."""

    telegram: Connector
    discord: Connector
    matrix: Connector


class BotsStatus(Snake):
    """`GET /api/bots/status`."""

    connectors: Connectors


class TelegramConfig(Snake):
    """The settings of Telegram's bot, whose users are numbers."""

    enabled: bool
    has_token: bool
    dm_trust_level: str = "sandboxed"
    group_trust_level: str = "sandboxed"
    allowed_users: list[int] = []


class DiscordConfig(TelegramConfig):
    """The settings of Discord's bot, whose users are texts."""

    allowed_users: list[str] = []  # type: ignore[assignment]


class MatrixConfig(Snake):
    """The settings of the bot of Matrix."""

    enabled: bool
    has_token: bool
    dm_trust_level: str
    group_trust_level: str
    homeserver_url: str
    user_id: str
    allowed_rooms: list[str]


class BotsConfig(Snake):
    """`GET` and `PUT /api/bots/config`."""

    telegram: TelegramConfig
    discord: DiscordConfig
    matrix: MatrixConfig


class Outcome(Snake):
    """Answer of start, stop, test, approve and deny at any status."""

    success: bool
    error: str | None = None
    bot_name: str | None = None


class PairingCount(Snake):
    """`GET /api/bots/pairing/count`."""

    pending: int = Field(ge=0)
