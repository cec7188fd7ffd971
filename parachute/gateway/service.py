"""One socket for each agent, with a token of its own."""

import asyncio
import contextlib
import fnmatch
import hmac
import logging
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.server import ServerState

from parachute.audit.service import Audit
from parachute.errors import ParachuteError, Unavailable
from parachute.files import private_folder
from parachute.gateway import providers
from parachute.gateway.credentials import CredentialSource
from parachute.gateway.models import ANTHROPIC_SECRET, Credential, CredentialKind, Problem, Provider, Usage
from parachute.gateway.prices import dollars
from parachute.gateway.reasons import reason_of
from parachute.gateway.store import UsageStore, today
from parachute.panic.brake import Brake
from parachute.settings.home import Home
from parachute.settings.models import Settings
from parachute.supervisor import control

if TYPE_CHECKING:
    from httpx2 import AsyncClient

log = logging.getLogger(__name__)

SOCKET_NAME = "model.sock"

_CLOSE_SECONDS = 2.0

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
    server: asyncio.Server | None = None
    state: ServerState = field(default_factory=ServerState)
    problem: Problem | None = None
    closed: bool = False

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
        self._config: uvicorn.Config | None = None
        self._spent: tuple[str, float] | None = None
        self._model_opened = False

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
        config = self._protocol_config()
        path = folder / SOCKET_NAME
        path.unlink(missing_ok=True)
        try:
            line.server = await asyncio.get_running_loop().create_unix_server(
                lambda: config.http_protocol_class(  # type: ignore[call-arg]
                    config=config, server_state=line.state, app_state={"line": line}
                ),
                path,
            )
        except BaseException:
            self._lines.pop(session, None)
            raise
        if self._lines.get(session) is not line:
            # Closed while it was being opened.
            line.server.close()
            path.unlink(missing_ok=True)
            raise Unavailable(f"The line of session {session} was closed.", "Send the message again.")
        # The agent inside the box has another user id on some engines; the folder above is 0700.
        path.chmod(0o666)
        return line

    async def close(self, session: str) -> None:
        """Close a session's line: from now on nothing answers on its socket."""
        line = self._lines.pop(session, None)
        if line is None:
            return
        line.closed = True
        if line.server:
            line.server.close()
        # At once, without a thread: a new line of the same session must not meet the remains of this one.
        (line.folder / SOCKET_NAME).unlink(missing_ok=True)
        for connection in list(line.state.connections):
            # What is under way learns of it as of a caller who has left, and ends its request to the model.
            connection.transport.abort()
        if tasks := list(line.state.tasks):
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()

    async def close_all(self) -> None:
        """Close every line and every connection to a provider."""
        for session in list(self._lines):
            await self.close(session)
        for client in self._clients.values():
            with contextlib.suppress(Exception):
                await client.aclose()
        self._clients.clear()

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

    async def over_limit(self) -> str | None:
        """A sentence if today's spending has reached its limit, else None."""
        limit = self._settings.daily_spending_limit
        if limit is None:
            return None
        spent = await self.spent_today()
        if spent < limit:
            return None
        return (
            f"Today's spending limit of ${limit:.2f} is reached (${spent:.2f}). "
            "Raise it with `parachute config set daily_spending_limit …`, or wait until tomorrow."
        )

    async def spent_today(self) -> float:
        """US dollars spent since midnight."""
        day = today()
        if self._spent is None or self._spent[0] != day:
            found = (await self._usage.of_day(day)).dollars
            # Somebody else may have looked it up and spent since: then theirs stands.
            if self._spent is None or self._spent[0] != day:
                self._spent = (day, found)
        return self._spent[1]

    async def account(self, session: str, model: str, usage: Usage, provider: Provider) -> None:
        """Count a finished request."""
        usage.dollars = dollars(model, usage) if provider.name == "anthropic" else 0.0
        spent = await self.spent_today()
        self._spent = (today(), spent + usage.dollars)
        try:
            await self._usage.add(session, model, usage)
        except ParachuteError as error:
            # It counts towards today's limit all the same.
            log.error("%s used %d tokens that could not be written down: %s", session, usage.output_tokens, error)

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
            "limit_reached": await self.over_limit(),
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

    def _protocol_config(self) -> uvicorn.Config:
        if self._config is None:
            from parachute.gateway.application import GatewayApplication

            self._config = uvicorn.Config(
                GatewayApplication(self),
                lifespan="off",
                access_log=False,
                log_config=None,
                ws="none",
                server_header=False,
            )
            self._config.load()
        return self._config


@contextlib.contextmanager
def _provider_errors(provider: Provider) -> Iterator[None]:
    import httpx2

    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise Unavailable(f"{provider.base_url} does not answer: {reason_of(error)}.") from error
