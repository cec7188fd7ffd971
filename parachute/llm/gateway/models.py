"""Credentials, providers and usage."""

import dataclasses
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.config.settings.groups.providers import MAIN

ANTHROPIC_SECRET = "sk-ant-"  # noqa: S105 - how they all begin

SUBSCRIPTION_TOKEN = "sk-ant-oat"  # noqa: S105 - how those of a subscription begin

QUESTIONS = "ask"
"""The session of questions in the ledger; ids of sessions are longer."""

ANTHROPIC_ONLY = "anthropic"
"""In the place of a server's address: wherever Anthropic is."""


class CredentialKind(StrEnum):
    """The header of a credential; a placeholder must be of the same kind, since the agent's requests differ with it."""

    API_KEY = "api_key"
    OAUTH = "oauth"


@dataclasses.dataclass(frozen=True, slots=True)
class Credential:
    """A secret for the model's service; `source` says in words where it was found, `expires_at` is in epoch seconds.

    `server` is the only one that it was entered for, an address or ANTHROPIC_ONLY; None if that was not said. A `renewable` one
    is refreshed before it expires, until `ends_at`, if that is known.
    """

    kind: CredentialKind
    secret: str = dataclasses.field(repr=False)
    source: str
    expires_at: float | None = None
    server: str | None = None
    renewable: bool = False
    ends_at: float | None = None

    @property
    def is_subscription(self) -> bool:
        """True if it is paid by the month; a bearer token for some other service is not."""
        is_anthropics = self.source != "ANTHROPIC_AUTH_TOKEN" or self.secret.startswith(SUBSCRIPTION_TOKEN)
        return self.kind is CredentialKind.OAUTH and is_anthropics

    @property
    def lasts_until(self) -> float | None:
        """The end after which nothing refreshes it, in epoch seconds; None where none is known."""
        return self.ends_at if self.renewable else self.expires_at

    def is_expired(self, clock: Clock = SYSTEM) -> bool:
        """True if it cannot be used as it is, as far as it says."""
        return self.expires_at is not None and self.expires_at <= clock.now().timestamp()

    def has_ended(self, clock: Clock = SYSTEM) -> bool:
        """True if it has expired for good."""
        return self.lasts_until is not None and self.lasts_until <= clock.now().timestamp()


ProviderName = Literal["anthropic", "compatible", "offline"]


class Provider(Struct, frozen=True):
    """A provider of models."""

    name: ProviderName
    base_url: str
    socket: str | None = None
    model: str | None = None
    chosen_because: str = ""
    takes_login: bool = False
    """True if the credential of `claude login` may go there: to Anthropic, or where the owner says that Anthropic is."""
    called: str = MAIN
    """Its name in `providers`."""
    at_home: bool = False
    """True if nothing that it is sent leaves the owner's own machines."""
    allowed_models: tuple[str, ...] | None = None
    """Patterns of the models that may be asked for, None where those of the settings hold."""
    asked: str | None = None
    """The model that was chosen of it, if any; `model` goes before it."""

    def wants_agent(self, credential: Credential | None) -> bool:
        """True if only the agent's program may ask with this credential, which is a subscription's."""
        if self.name != "anthropic" or credential is None or credential.kind is not CredentialKind.OAUTH:
            return False
        return self.takes_login or credential.secret.startswith(SUBSCRIPTION_TOKEN)

    @property
    def is_offline(self) -> bool:
        """True for the offline model, which uses no tools."""
        return self.name == "offline"

    @property
    def prefix(self) -> str:
        """Return the beginning of the names of its models: nothing for the first provider."""
        return "" if self.called == MAIN else f"{self.called}/"

    @property
    def other_server(self) -> str | None:
        """Its address, None if it counts as Anthropic's: what a credential for it is looked up by."""
        return None if self.takes_login else self.base_url


class Payer(StrEnum):
    """Payer of a request: an API key in dollars, a subscription, of which tokens are counted, nobody at home, or nobody knows."""

    KEY = "key"
    SUBSCRIPTION = "subscription"
    NOBODY = "nobody"
    UNKNOWN = "unknown"

    @property
    def is_limited(self) -> bool:
        """Return True if what it pays counts towards a limit."""
        return self in (Payer.KEY, Payer.SUBSCRIPTION)


def payer_of(provider: Provider, credential: Credential | None) -> Payer:
    """Return who pays for requests to a provider with a credential; of others than Anthropic no price is known."""
    if provider.name != "anthropic":
        return Payer.NOBODY if provider.at_home else Payer.UNKNOWN
    return Payer.SUBSCRIPTION if credential is not None and credential.is_subscription else Payer.KEY


@dataclasses.dataclass(slots=True)
class Usage:
    """Tokens and US dollars."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    dollars: float = 0.0
    searches: int = 0
    """Web searches; what they cost is in `dollars`."""
    subscription_tokens: int = 0
    """Tokens that count against a subscription: all but what was read from the cache."""
    unpriced: int = 0
    """Requests to a provider whose price is not known; nothing of them is in `dollars`."""

    def add(self, other: "Usage") -> None:
        """Add another usage to this one."""
        self.requests += other.requests
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cache_read_tokens += other.cache_read_tokens
        self.cache_write_tokens += other.cache_write_tokens
        self.dollars += other.dollars
        self.searches += other.searches
        self.subscription_tokens += other.subscription_tokens
        self.unpriced += other.unpriced


def used_in(usage: Usage) -> dict[str, Any]:
    """Return a usage for the audit log: tokens by kind, and US dollars where they are known."""
    tokens = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
    }
    return {"tokens": {name: number for name, number in tokens.items() if number}, "dollars": round(usage.dollars, 6)}


class Problem(Struct, frozen=True):
    """The reason why a request of an agent was refused or failed; `code` is one of the app's error codes (contract, section 3).

    `key` tells more than the code where there is more to tell.
    """

    code: str
    message: str
    status: int
    retry_seconds: float | None = None
    key: str = ""
