"""The provider that is asked: its address, its credential, its connections and what it says of the account."""

import asyncio
import contextlib
import fnmatch
import socket
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.config.settings.groups.providers import MAIN
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.llm.gateway import account, providers
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.known_servers import KnownServers
from parachute.llm.gateway.login import Login
from parachute.llm.gateway.models import ANTHROPIC_ONLY, ANTHROPIC_SECRET, Credential, CredentialKind, Provider
from parachute.llm.gateway.probe import ServerFacts, probe
from parachute.llm.gateway.reports import ListedModel, Windows
from parachute.security.kill_switch.switch import KillSwitch
from parachute.supervisor import control

TAKEN_OVER = ("provider", "base_url", "model", "providers", "fallback", "fallback_leaves_home")
"""Settings that hold at once."""


class Upstream:
    """Chooses the provider anew for each request; `client` is the only way out."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        credentials: CredentialSource,
        kill_switch: KillSwitch,
        login: Login,
        clock: Clock = SYSTEM,
    ) -> None:
        self.credentials = credentials
        self.clock = clock
        self.login = login
        self.servers = KnownServers(home)
        self._home = home
        self._settings = settings
        self._kill_switch = kill_switch
        self._clients: dict[tuple[str | None, bool], Any] = {}

    @property
    def provider(self) -> Provider:
        """The provider in force now, for whoever chooses none."""
        return self.chosen(None)

    def chosen(self, wanted: str | None, *, stays: bool = False) -> Provider:
        """Return the provider of a model, one at home with `stays`; errors: those of `providers.resolve`."""
        return providers.resolve(self._settings, self.credentials, self._home, wanted, stays=stays)

    def called(self, name: str) -> Provider:
        """Return the provider with a name; errors: those of `providers.resolve`."""
        return self.chosen(f"{name}/")

    @property
    def fallback(self) -> list[str]:
        """Names of the providers that answer in place of others, in order."""
        return list(self._settings.fallback)

    def every(self) -> list[Provider]:
        """Return the first provider and those with a name."""
        return list(providers.every(self._settings, self.credentials, self._home))

    def instead_of(self, chosen: Provider, *, stays: bool) -> list[Provider]:
        """Return the providers that may answer in place of one, in order: each names a model of its own."""
        if not self._settings.fallback:
            return []
        leaves = not stays and (not chosen.at_home or self._settings.fallback_leaves_home)
        known = {each.called: each for each in self.every()}
        others = (known.get(name) for name in self._settings.fallback if name != chosen.called)
        return [
            # Whichever model the agent names is one of the chosen provider.
            replace(each, model=each.model or each.asked)
            for each in others
            if each and (each.model or each.asked) and (leaves or each.at_home)
        ]

    @property
    def default_model(self) -> str | None:
        """The model that the settings name for whoever names none."""
        return self._settings.model

    def allows_model(self, model: str, provider: Provider | None = None) -> bool:
        """True if the settings let agents use a model, of a provider with a name its own ones."""
        patterns = self._settings.allowed_models
        if provider is not None and provider.allowed_models is not None:
            patterns = list(provider.allowed_models)
        return any(fnmatch.fnmatchcase(model, pattern) for pattern in patterns)

    def credential(self, provider: Provider) -> Credential | None:
        """The credential that goes to a provider, looked up anew; another server than Anthropic's gets none of its secrets."""
        if provider.is_offline:
            return None
        if provider.called != MAIN:
            return self._credential_of(provider)
        found = self.credentials.find(provider.other_server)
        # By the provider that is asked, not by the settings: they may have changed since it was chosen.
        foreign = provider.name == "compatible" and provider.base_url != self.credentials.base_url
        if found is not None and foreign and found.secret.startswith(ANTHROPIC_SECRET):
            return None
        return found and self.login.current(found)

    def _credential_of(self, provider: Provider) -> Credential | None:
        """The credential of a provider with a name; Anthropic also gets what is its own anyway."""
        own = self.credentials.of(provider.called)
        if provider.name != "anthropic":
            return own if own is not None and own.server == provider.base_url else None
        found = own if own is not None and own.server == ANTHROPIC_ONLY else self.credentials.find()
        if found is None or not (found.renewable or found.secret.startswith(ANTHROPIC_SECRET)):
            return None
        return self.login.current(found)

    async def fresh_credential(self, provider: Provider, refused: Credential | None = None) -> Credential | None:
        """The credential that goes to a provider, refreshed if it ends soon or was `refused`; errors: SignInAgain, Unavailable."""
        found = self.credential(provider)
        if found is not None and found.renewable:
            await self.login.refresh(found, lambda: self.client(provider), refused=refused == found)
            found = self.credential(provider)
        return found

    def take_over(self, settings: Settings) -> None:
        """Let a provider hold that was chosen while the computer runs, also for whoever else has these settings."""
        for name in TAKEN_OVER:
            setattr(self._settings, name, getattr(settings, name))

    async def models(self, show_all: bool) -> list[ListedModel]:
        """The models that the default provider offers; error: Unavailable if it does not answer."""
        return await self.models_of(self.provider, show_all)

    async def models_of(self, provider: Provider, show_all: bool) -> list[ListedModel]:
        """The models that a provider offers; error: Unavailable if it does not answer."""
        credential = await self.fresh_credential(provider)
        with _provider_errors(provider):
            return await account.models(await self.client(provider), provider, credential, show_all)

    async def ask_abilities(self, provider: Provider) -> ServerFacts | None:
        """Ask a server of one's own what it has, and keep that; None for another provider, and while all agents are stopped."""
        if provider.name != "compatible":
            return None
        with contextlib.suppress(ParachuteError):
            facts = await probe(await self.client(provider), provider, self.credential(provider), self.clock)
            await asyncio.to_thread(self.servers.put, provider, facts)
            return facts
        return None

    async def subscription(self) -> Windows:
        """The limits of a subscription; error: Unavailable with other credentials, and if nobody answers."""
        provider = self.provider
        credential = await self.fresh_credential(provider)
        if provider.name != "anthropic" or credential is None or credential.kind is not CredentialKind.OAUTH:
            raise Unavailable(
                "Limits are known only when you are signed in with a Claude subscription.", key="no_subscription"
            )
        with _provider_errors(provider):
            return await account.subscription(await self.client(provider), provider, credential)

    async def client(self, provider: Provider) -> Any:
        """The HTTP client for a provider (httpx2.AsyncClient), with its connections kept open. Error: Stopped."""
        self._kill_switch.check()
        if provider.socket:
            # Each time: a stop of all agents closes it, and a read-only disk keeps the file of its socket all the same.
            await control.ask(self._home, "open", unit="model", environment=self._model_settings())
        # Not where the owner says that an address elsewhere is at home: then only the owner knows the way.
        is_held = provider.at_home and not provider.socket and providers.is_at_home(provider.base_url)
        key = provider.socket, is_held
        if key not in self._clients:
            import httpx2

            from parachute.llm.gateway.home_transport import HomeTransport

            transport = HomeTransport() if is_held else httpx2.AsyncHTTPTransport(uds=provider.socket)
            self._clients[key] = httpx2.AsyncClient(
                transport=transport if is_held or provider.socket else None,
                timeout=httpx2.Timeout(600, connect=30),
                # A proxy of the environment may be anywhere.
                trust_env=not (is_held or provider.socket),
            )
        return self._clients[key]

    async def close(self) -> None:
        """Close every connection to a provider, after a refresh of the login that is under way."""
        await self.login.close()
        for client in self._clients.values():
            with contextlib.suppress(Exception):
                await client.aclose()
        self._clients.clear()

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
        raise Unavailable(f"{provider.base_url} answered {status}.", key="upstream_refused") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise Unavailable(f"{provider.base_url} does not answer: {reason_of(error)}.", key="provider_silent") from error


def reason_of(error: BaseException) -> str:
    """The cause of a failed request in words: what the system reported, not the library's name for it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return "its name cannot be resolved"
        if isinstance(cause, ConnectionRefusedError):
            return "nothing listens at this address"
        if isinstance(cause, TimeoutError):
            return "it did not answer in time"
        cause = cause.__cause__ or cause.__context__
    return str(error).removesuffix(".") or type(error).__name__
