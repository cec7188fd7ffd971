"""Health, running streams, keys, usage, the supervisor and errors, as the app reads them."""

from typing import Literal

from pydantic import Field

from .dart import Moment, Number, Snake
from .stream_events import Question


class Health(Snake):
    """`GET /api/health`."""

    version: str | None = None


class HealthVault(Snake):
    """Place of the vault."""

    path: str | None = None


class HealthDocker(Snake):
    """Availability of containers."""

    available: bool | None = None
    image_exists: bool | None = None


class DetailedHealth(Health):
    """`GET /api/health?detailed=true`."""

    vault: HealthVault | None = None
    docker: HealthDocker | None = None


class StreamStatus(Snake):
    """`GET /api/chat/{id}/stream-status`."""

    active: bool = False


class ActiveStream(Snake):
    """A stream that runs now."""

    session_id: str | None = None


class ActiveStreams(Snake):
    """`GET /api/chat/active-streams`: ids, or objects with an id."""

    streams: list[str | ActiveStream] | None = None


class Accepted(Snake):
    """Answer to inject and answer: any JSON object, only its status is read."""


class PendingQuestion(Snake):
    """A question that waits for the user."""

    request_id: str | None = None
    questions: list[Question] | None = None


class PendingQuestions(Snake):
    """`GET /api/chat/{id}/pending-questions`."""

    pending: list[PendingQuestion]


class Key(Snake):
    """A key as it is listed."""

    id: str
    label: str
    created_at: Moment
    last_used_at: Moment | None = None


class KeyList(Snake):
    """`GET /api/auth/keys`."""

    keys: list[Key]
    auth_mode: Literal["remote", "always", "disabled"] = "remote"


class CreatedKey(Snake):
    """`POST /api/auth/keys`: the only time that the key itself is shown."""

    id: str
    label: str
    key: str
    created_at: Moment


class AuthSettings(Snake):
    """`GET /api/auth/settings`."""

    require_auth: Literal["remote", "always", "disabled"] = "remote"
    key_count: int = 0


class UsageWindow(Snake):
    """Used part of a limit, in percent."""

    utilization: Number = 0
    resets_at: Moment | None = None


class ExtraUsage(Snake):
    """Payments beyond the plan."""

    is_enabled: bool | None = None
    monthly_limit: int | None = None
    used_credits: Number | None = None
    utilization: Number | None = None


class Usage(Snake):
    """`GET /api/usage`."""

    five_hour: UsageWindow | None = None
    seven_day: UsageWindow | None = None
    seven_day_sonnet: UsageWindow | None = None
    seven_day_opus: UsageWindow | None = None
    extra_usage: ExtraUsage | None = None
    subscription_type: str | None = None
    rate_limit_tier: str | None = None
    error: str | None = None


class SupervisorStatus(Snake):
    """`GET /supervisor/status`."""

    supervisor_uptime_seconds: int
    supervisor_version: str
    main_server_healthy: bool
    main_server_status: Literal["running", "stopped"]
    config_loaded: bool
    main_server_uptime_seconds: int | None = None
    main_server_version: str | None = None
    main_server_port: int | None = None


class SupervisorModel(Snake):
    """A model that the user may choose."""

    id: str
    display_name: str
    created_at: Moment
    family: str
    is_latest: bool = False


class SupervisorModels(Snake):
    """`GET /supervisor/models`."""

    models: list[SupervisorModel]


class ErrorBody(Snake):
    """The body of every 4xx and 5xx: `detail` is a sentence, never a list."""

    detail: str = Field(min_length=1)
