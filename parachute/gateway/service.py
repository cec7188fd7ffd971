"""One socket for each agent, with a token of its own."""

import asyncio
import contextlib
import fnmatch
import functools
import hmac
import logging
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parachute.audit.service import Audit
from parachute.base.budget import SANDBOX
from parachute.errors import ParachuteError, Unavailable
from parachute.files import private_folder
from parachute.gateway import providers
from parachute.gateway.credentials import CredentialSource
from parachute.gateway.models import ANTHROPIC_SECRET, Credential, CredentialKind, Problem, Provider, Usage
from parachute.gateway.reasons import reason_of
from parachute.gateway.spending import Spending
from parachute.gateway.store import UsageStore
from parachute.panic.brake import Brake
from parachute.settings.home import Home
from parachute.settings.models import Settings
from parachute.supervisor import control
from parachute.web.unix_server import UnixListener, UnixServer

if TYPE_CHECKING:
    from httpx2 import AsyncClient

log = logging.getLogger(__name__)

SOCKET_NAME = "model.sock"

_CLOSE_SECONDS = 2.0

_BODIES = 2
"""Requests of one session that are read at a time: each may have 32 MB, and takes several times as much meanwhile."""

_PLACEHOLDERS = {
    CredentialKind.API_KEY: ("ANTHROPIC_API_KEY", "sk-ant-api03-"),
    CredentialKind.OAUTH: ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-"),
}


@dataclass(slots=True)
class Line:
    """The line of one agent to its model: the socket's folder, the token, and what went wrong last.

    `searches`: the provider may search the web for it.
    """

    session: str
    folder: Path
    kind: CredentialKind
    token: str
    searches: bool = True
    listener: UnixListener | None = None
    bodies: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_BODIES))
    problem: Problem | None = None
    closed: bool = False
    paused: bool = False

    @property
    def connections(self) -> "set[Any]":
        """The connections of the agent that are open now."""
        return self.listener.state.connections if self.listener else set()

    def accepts(self, token: str) -> bool:
        """Whether a request carries this line's token."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def environment(self) -> dict[str, str]:
        """What the agent's process needs to reach the model; the socket's own path differs inside a box."""
        return {_PLACEHOLDERS[self.kind][0]: self.token, "ANTHROPIC_BASE_URL": "http://model.local"}


class Gateway:
    """Opens and closes lines, and knows what they may do and have done."""

    def __init__(
        self, home: Home, settings: Settings, credentials: CredentialSource, usage: UsageStore, audit: Audit
    ) -> None:
        self.credentials = credentials
        self.audit = audit
        self.brake = Brake(home.root)
        self._home = home
        self._settings = settings
        self._usage = usage
        self._lines: dict[str, Line] = {}
        self._clients: dict[str | None, AsyncClient] = {}
        self.spending = Spending(settings, usage)
        self._model_opened = False

    @functools.cached_property
    def server(self) -> UnixServer:
        """What agents ask."""
        from parachute.gateway.application import GatewayApplication

        return UnixServer(GatewayApplication(self), SANDBOX)

    @property
    def provider(self) -> Provider:
        """The provider in force now."""
        return providers.choose(self._settings, self.credentials, self._home)

    @property
    def default_model(self) -> str | None:
        """The model that the settings name for whoever names none."""
        return self._settings.model

    def credential(self, provider: Provider) -> Credential | None:
        """The credential that goes to a provider, looked up anew; another server than Anthropic's gets none of its secrets."""
        if provider.name == "offline":
            return None
        found = self.credentials.find(provider.other_server)
        # By the provider that is asked, not by the settings: they may have changed since it was chosen.
        foreign = provider.name == "compatible" and provider.base_url != self.credentials.base_url
        if found is not None and foreign and found.secret.startswith(ANTHROPIC_SECRET):
            return None
        return found

    def take_over(self, settings: Settings) -> None:
        """Let a provider hold that was chosen while the computer runs, also for whoever else has these settings."""
        for name in ("provider", "base_url", "model"):
            setattr(self._settings, name, getattr(settings, name))

    async def open(self, session: str, *, searches: bool = True) -> Line:
        """The line of a session, opened if it is not yet; its folder is what a sandbox mounts. Errors: Stopped, OSError."""
        self.brake.check()
        if line := self._lines.get(session):
            return line
        credential = self.credential(self.provider)
        kind = credential.kind if credential else CredentialKind.API_KEY
        folder = private_folder(self._home.run / "sandbox" / session / "box")
        line = Line(session, folder, kind, _PLACEHOLDERS[kind][1] + secrets.token_urlsafe(32), searches)
        self._lines[session] = line
        try:
            # The agent inside the box has another user id on some engines; the folder above is 0700.
            line.listener = await self.server.open(folder / SOCKET_NAME, 0o666, line=line)
        except BaseException:
            self._lines.pop(session, None)
            raise
        if self._lines.get(session) is not line:
            # Closed while it was being opened.
            line.listener.close()
            raise Unavailable(f"The line of session {session} was closed.", "Send the message again.")
        return line

    async def close(self, session: str) -> None:
        """Close a session's line: from now on nothing answers on its socket."""
        line = self._lines.pop(session, None)
        if line is None:
            return
        line.closed = True
        if line.listener is None:
            return
        line.listener.server.close()
        # At once, without a thread: a new line of the same session must not meet the remains of this one.
        with contextlib.suppress(OSError):  # what a read-only disk keeps is removed when the next one is opened
            line.listener.path.unlink(missing_ok=True)
        for connection in list(line.connections):
            # What is under way learns of it as of a caller who has left, and ends its request to the model.
            connection.transport.abort()
        if tasks := list(line.listener.state.tasks):
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()

    def resume(self, session: str) -> None:
        """Let a session ask the model: a turn of it begins."""
        if line := self._lines.get(session):
            line.paused = False

    def pause(self, session: str) -> None:
        """Refuse what a session asks from now on, and break off what it asks: what it left running pays for nothing."""
        if line := self._lines.get(session):
            line.paused = True
            for connection in list(line.connections):
                connection.break_off()

    async def close_all(self) -> None:
        """Close every line and every connection to a provider."""
        for session in list(self._lines):
            await self.close(session)
        for client in self._clients.values():
            with contextlib.suppress(Exception):
                await client.aclose()
        self._clients.clear()
        await self.spending.close()

    def take_problem(self, session: str) -> Problem | None:
        """What went wrong last on a session's line, once."""
        line = self._lines.get(session)
        if line is None:
            return None
        problem, line.problem = line.problem, None
        return problem

    def allows_model(self, model: str) -> bool:
        """Whether the settings let agents use a model."""
        return any(fnmatch.fnmatchcase(model, pattern) for pattern in self._settings.allowed_models)

    async def spent_today(self) -> float:
        """US dollars spent since midnight."""
        return await self.spending.today()

    async def used_by(self, session: str) -> Usage:
        """All that a session has used."""
        return await self._usage.of_session(session)

    async def status(self) -> dict[str, Any]:
        """Provider, credential and spending, for people."""
        try:
            provider = self.provider
            name, because, credential = provider.name, provider.chosen_because, self.credential(provider)
        except ParachuteError as error:
            name, because, credential = None, str(error), None
        return {
            "provider": name,
            "because": because,
            "credential": None
            if credential is None
            else {"source": credential.source, "kind": credential.kind.value, "expired": credential.expired},
            "spent_today": round(await self.spent_today(), 4),
            "daily_spending_limit": self._settings.daily_spending_limit,
            "limit_reached": await self.spending.over_limit(),
        }

    async def models(self, show_all: bool) -> list[dict[str, Any]]:
        """The models that the provider offers; error: Unavailable if it does not answer."""
        from parachute.gateway import account

        provider = self.provider
        with _provider_errors(provider):
            return await account.models(await self.client(provider), provider, self.credential(provider), show_all)

    async def subscription(self) -> dict[str, Any]:
        """The limits of a subscription; with other credentials `error` says why there are none."""
        from parachute.gateway import account

        report: dict[str, Any] = {"spent_today": round(await self.spent_today(), 4)}
        try:
            provider = self.provider
            credential = self.credential(provider)
            if provider.name != "anthropic" or credential is None or credential.kind is not CredentialKind.OAUTH:
                return {**report, "error": "Limits are known only when you are signed in with a Claude subscription."}
            with _provider_errors(provider):
                return {**report, **await account.subscription(await self.client(provider), provider, credential)}
        except ParachuteError as error:
            return {**report, "error": error.message}

    async def client(self, provider: Provider) -> "AsyncClient":
        """The HTTP client for a provider, with its connections kept open: the only way out. Error: Stopped."""
        self.brake.check()
        if provider.socket and not (self._model_opened and Path(provider.socket).exists()):
            await control.ask(self._home, "open", unit="model", environment=self._model_settings())
            self._model_opened = True
        if provider.socket not in self._clients:
            import httpx2

            timeout = httpx2.Timeout(600, connect=30)
            if provider.socket:
                transport = httpx2.AsyncHTTPTransport(uds=provider.socket)
                self._clients[provider.socket] = httpx2.AsyncClient(
                    transport=transport, timeout=timeout, trust_env=False
                )
            else:
                self._clients[provider.socket] = httpx2.AsyncClient(timeout=timeout)
        return self._clients[provider.socket]

    def _model_settings(self) -> dict[str, str]:
        offline = self._settings.offline
        values = {
            "PARACHUTE_OFFLINE_IDLE_SECONDS": str(offline.idle_minutes * 60),
            "PARACHUTE_OFFLINE_CONTEXT_TOKENS": str(offline.context_tokens),
        }
        return {**values, "PARACHUTE_OFFLINE_MODEL": str(offline.model)} if offline.model else values


@contextlib.contextmanager
def _provider_errors(provider: Provider) -> Iterator[None]:
    import httpx2

    try:
        yield
    except httpx2.HTTPStatusError as error:
        status = error.response.status_code
        if status in (401, 403):
            said, hint = (
                f"{provider.base_url} does not accept the credential.",
                "`parachute auth login` stores another.",
            )
            raise Unavailable(said, hint, key="invalid_credentials") from error
        raise Unavailable(f"{provider.base_url} answered {status}.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise Unavailable(f"{provider.base_url} does not answer: {reason_of(error)}.") from error
