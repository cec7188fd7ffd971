"""Credentials, providers and usage."""

import time
from dataclasses import dataclass, field
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret for the model's service; `source` says in words where it was found, `expires_at` is in epoch seconds.

    `server` is the only one that it was entered for, an address or ANTHROPIC_ONLY; None if that was not said.
    """

    kind: CredentialKind
    secret: str = field(repr=False)
    source: str
    expires_at: float | None = None
    server: str | None = None

    @property
    def expired(self) -> bool:
        """True if it has expired, as far as it says."""
        return self.expires_at is not None and self.expires_at <= time.time()


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of models: `anthropic`, `compatible` or `offline`."""

    name: str
    base_url: str
    socket: str | None = None
    model: str | None = None
    chosen_because: str = ""
    takes_login: bool = False
    """True if the credential of `claude login` may go there: to Anthropic, or where the owner says that Anthropic is."""

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
    def other_server(self) -> str | None:
        """Its address, None if it counts as Anthropic's: what a credential for it is looked up by."""
        return None if self.takes_login else self.base_url


@dataclass(slots=True)
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

    def add(self, other: "Usage") -> None:
        """Add another usage to this one."""
        self.requests += other.requests
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cache_read_tokens += other.cache_read_tokens
        self.cache_write_tokens += other.cache_write_tokens
        self.dollars += other.dollars
        self.searches += other.searches


@dataclass(frozen=True, slots=True)
class Problem:
    """The reason why a request of an agent was refused or failed; `code` is one of the app's error codes (contract, section 3)."""

    code: str
    message: str
    status: int
    retry_seconds: float | None = None
