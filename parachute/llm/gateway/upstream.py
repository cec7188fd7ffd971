"""The provider that is asked: its address, its credential, its connections and what it says of the account."""

import contextlib
import fnmatch
import socket
from collections.abc import Iterator
from typing import Any

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.llm.gateway import account, providers, window
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.login import Login
from parachute.llm.gateway.models import ANTHROPIC_SECRET, Credential, CredentialKind, Provider
from parachute.llm.gateway.reports import ListedModel, Windows
from parachute.security.kill_switch.switch import KillSwitch
from parachute.supervisor import control


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
        self._home = home
        self._settings = settings
        self._kill_switch = kill_switch
        self._clients: dict[str | None, Any] = {}

    @property
    def provider(self) -> Provider:
        """The provider in force now."""
        return providers.choose(self._settings, self.credentials, self._home)

    @property
    def default_model(self) -> str | None:
        """The model that the settings name for whoever names none."""
        return self._settings.model

    def allows_model(self, model: str) -> bool:
        """True if the settings let agents use a model."""
        return any(fnmatch.fnmatchcase(model, pattern) for pattern in self._settings.allowed_models)

    def credential(self, provider: Provider) -> Credential | None:
        """The credential that goes to a provider, looked up anew; another server than Anthropic's gets none of its secrets."""
        if provider.is_offline:
            return None
        found = self.credentials.find(provider.other_server)
        # By the provider that is asked, not by the settings: they may have changed since it was chosen.
        foreign = provider.name == "compatible" and provider.base_url != self.credentials.base_url
        if found is not None and foreign and found.secret.startswith(ANTHROPIC_SECRET):
            return None
        return found and self.login.current(found)

    async def fresh_credential(self, provider: Provider, refused: Credential | None = None) -> Credential | None:
        """The credential that goes to a provider, refreshed if it ends soon or was `refused`; errors: SignInAgain, Unavailable."""
        found = self.credential(provider)
        if found is not None and found.renewable:
            await self.login.refresh(found, lambda: self.client(provider), refused=refused == found)
            found = self.credential(provider)
        return found

    def take_over(self, settings: Settings) -> None:
        """Let a provider hold that was chosen while the computer runs, also for whoever else has these settings."""
        for name in ("provider", "base_url", "model"):
            setattr(self._settings, name, getattr(settings, name))

    async def models(self, show_all: bool) -> list[ListedModel]:
        """The models that the provider offers; error: Unavailable if it does not answer."""
        provider = self.provider
        credential = await self.fresh_credential(provider)
        with _provider_errors(provider):
            return await account.models(await self.client(provider), provider, credential, show_all)

    async def window(self) -> int | None:
        """The tokens that the model of a server of one's own takes, None if that does not say."""
        with contextlib.suppress(ParachuteError):  # while all agents are stopped nobody is asked
            provider = self.provider
            if provider.name == "compatible":
                headers = account.headers(self.credential(provider))
                return await window.ask(await self.client(provider), provider.base_url, headers)
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
        if provider.socket not in self._clients:
            import httpx2

            self._clients[provider.socket] = httpx2.AsyncClient(
                transport=httpx2.AsyncHTTPTransport(uds=provider.socket) if provider.socket else None,
                timeout=httpx2.Timeout(600, connect=30),
                trust_env=not provider.socket,
            )
        return self._clients[provider.socket]

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
