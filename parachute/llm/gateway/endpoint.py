"""The model endpoint of one agent: a socket with a token of its own."""

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field

from parachute.llm.gateway.limits import COMPUTER, QUESTIONS_ASKED
from parachute.llm.gateway.models import QUESTIONS, CredentialKind, Problem, Provider, Usage
from parachute.web.http.unix_server import UnixListener

SOCKET_NAME = "model.sock"

NOT_IN_TURN = "The model can be asked during a turn of this session only."

_BODIES = 2
"""Requests of one session that are read at a time: each may have 32 MB, and takes several times as much meanwhile."""

_PLACEHOLDERS = {
    CredentialKind.API_KEY: ("ANTHROPIC_API_KEY", "sk-ant-api03-"),
    CredentialKind.OAUTH: ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-"),
}


Searched = Callable[[str], Awaitable[None]]
"""Is told for which session the web is about to be searched, and is waited for."""


Say = Callable[[str, str], None]
"""Is told a title and a sentence for whoever reads the conversation."""


class Silence(Protocol):
    """A provider that does not answer, and the reason as a part of a sentence."""

    provider: Provider
    reason: str


class ModelEndpoint(Struct):
    """The socket's folder, the token, and what went wrong last.

    `searched` hears of it before the provider searches the web for it, which it may not without. `asked_by` is set where it
    serves one question: who asks (kind, name).
    `most_tokens` are those that an answer may have, `used` is what was used since that was last asked for.
    """

    session: str
    folder: Path
    kind: CredentialKind
    token: str
    searched: Searched | None = None
    asked_by: tuple[str, str] | None = None
    most_tokens: int | None = None
    listener: UnixListener | None = None
    bodies: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_BODIES))
    problem: Problem | None = None
    used: Usage = field(default_factory=Usage)
    counts_for: str = COMPUTER
    is_online: bool = True
    """False where the agent has no network: then nobody searches the web for it either."""
    wanted: str | None = None
    """The model that was chosen for the session, such as `home/qwen3`: whichever model its agent names, this one's provider is asked."""
    stays: bool = False
    """True where only models at home may be asked."""
    silent: set[str] = field(default_factory=set)
    """Providers that did not answer in this turn."""
    left_out: dict[tuple[Any, ...], frozenset[str]] = field(default_factory=dict)
    """Tools that a model with a small window is not told of."""
    say: Say | None = None
    """Tells whoever reads the conversation, with a title and a sentence."""
    closed: bool = False
    paused: bool = False

    @property
    def source(self) -> tuple[str, str]:
        """Return the asker of the model through it, as (kind, name) for the audit."""
        return self.asked_by or ("agent", self.session)

    @property
    def account(self) -> str:
        """The session in the ledger that its usage counts for."""
        return QUESTIONS if self.asked_by else self.session

    @property
    def subject(self) -> str:
        """For whom its usage counts (`limits.SUBJECTS`)."""
        if self.asked_by is None:
            return self.counts_for
        kind, name = self.asked_by
        return f"hook:{name}" if kind == "hook" else QUESTIONS_ASKED

    @property
    def connections(self) -> set[Any]:
        """The connections of the agent that are open now."""
        return self.listener.state.connections if self.listener else set()

    def accepts(self, token: str) -> bool:
        """True if a request has this endpoint's token."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def say_instead(self, provider: Provider, reason: "Silence") -> None:
        """Tell that a provider answers in place of another one."""
        if self.say is not None:
            model = f"{provider.called}/{provider.model or provider.asked}"
            sentence = f"{reason.provider.called} does not answer ({reason.reason}), so {model} answers in its place."
            self.say("Another model answers", sentence)

    def environment(self) -> dict[str, str]:
        """The variables by which the agent's process reaches the model; the socket's own path differs inside a sandbox."""
        return {_PLACEHOLDERS[self.kind][0]: self.token, "ANTHROPIC_BASE_URL": "http://model.local"}


def new_token(kind: CredentialKind) -> str:
    """A token that looks like a credential of this kind: the agent's program sends it as it would send that."""
    return _PLACEHOLDERS[kind][1] + secrets.token_urlsafe(32)
