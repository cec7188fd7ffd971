"""Reports of the gateway for people: provider, models, and the limits of a subscription."""

from parachute.base.answers import Answer
from parachute.llm.gateway.models import ProviderName


class ShownCredential(Answer, frozen=True):
    """A credential without its secret; `problem` says why it is not renewed."""

    source: str
    kind: str
    expired: bool
    problem: str | None
    ends_at: str | None


class ProviderStatus(Answer, frozen=True):
    """Provider, credential and spending; without a provider `because` is the reason.

    `model` is the one that is asked for where a conversation names none, null where that is the server's choice; `address` is
    the server's, null for Anthropic's own and for the model on this computer.
    """

    provider: ProviderName | None
    because: str
    model: str | None
    address: str | None
    credential: ShownCredential | None
    spent_today: float
    daily_spending_limit: float | None
    tokens_today: int
    daily_token_limit: int | float | None
    limit_reached: str | None


class ChosenProvider(ProviderStatus, frozen=True):
    """The provider in force after a choice, and what the chosen server showed: `window` are the tokens that its model takes.

    `tools`, `streams` and `counts` say whether it takes tools, streams answers and counts tokens; null is unknown.
    """

    window: int | None
    tools: bool | None = None
    streams: bool | None = None
    counts: bool | None = None


class ProviderModels(Answer, frozen=True):
    """A provider and its models; `problem` is why it gave no list, the rest what it showed at `asked_at`, null for unknown."""

    name: str
    kind: ProviderName
    address: str | None
    model: str | None
    at_home: bool
    has_credential: bool
    models: list[str]
    problem: str | None
    window: int | None
    tools: bool | None
    streams: bool | None
    counts: bool | None
    asked_at: str | None


class ListedModel(Answer, frozen=True):
    """A model that a provider offers; `is_latest` is the newest of its family, `at_home` whether its provider is at home."""

    id: str
    display_name: str
    created_at: str
    family: str
    is_latest: bool
    at_home: bool = False


class Window(Answer, frozen=True):
    """A window of a subscription, and how far it is used, in percent."""

    utilization: float | int
    resets_at: str | None


class ExtraUsage(Answer, frozen=True):
    """Use beyond a subscription."""

    is_enabled: bool
    monthly_limit: int
    used_credits: float | int
    utilization: float | int


class Windows(Answer, frozen=True, omit_defaults=True):
    """The windows of a subscription."""

    five_hour: Window | None = None
    seven_day: Window | None = None
    seven_day_sonnet: Window | None = None
    seven_day_opus: Window | None = None
    extra_usage: ExtraUsage | None = None


class Subscription(Windows, frozen=True, kw_only=True):
    """The limits of a subscription, and what was spent today; with other credentials `error` says why there are none."""

    spent_today: float
    tokens_today: int
    daily_token_limit: int | float | None
    error: str | None = None
