"""The model gateway: it opens a model endpoint for each agent, and says what agents have spent."""

from datetime import UTC, date, datetime, timedelta

from msgspec.structs import asdict

from parachute.base.budget import SANDBOX
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.files import private_folder
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.llm.gateway.application import GatewayApplication
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.daily_limits import DailyLimits
from parachute.llm.gateway.endpoint import SOCKET_NAME, ModelEndpoint, Searched, new_token
from parachute.llm.gateway.limits import SpendingLimits
from parachute.llm.gateway.login import Login
from parachute.llm.gateway.model_list import ModelList
from parachute.llm.gateway.models import Credential, CredentialKind, Payer, Problem, Usage, payer_of
from parachute.llm.gateway.providers import is_anthropic
from parachute.llm.gateway.reports import ProviderStatus, ShownCredential, Subscription, Windows
from parachute.llm.gateway.spending import Spending
from parachute.llm.gateway.store import Grouping, UsageStore
from parachute.llm.gateway.upstream import Upstream
from parachute.security.audit.service import Audit
from parachute.security.kill_switch.switch import KillSwitch
from parachute.web.http.unix_server import UnixServer

_CLOSE_SECONDS = 2.0


class Gateway:
    """Opens and closes model endpoints, and knows what they have done."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        credentials: CredentialSource,
        login: Login,
        usage: UsageStore,
        limits: SpendingLimits,
        audit: Audit,
        clock: Clock = SYSTEM,
    ) -> None:
        self.kill_switch = KillSwitch(home.root)
        self.upstream = Upstream(home, settings, credentials, self.kill_switch, login, clock)
        self.models = ModelList(self.upstream)
        self.audit = audit
        self.limits = limits
        self.spending = Spending(DailyLimits(home, settings), usage, limits)
        self.application = GatewayApplication(self.upstream, self.spending, audit)
        self._home = home
        self._usage = usage
        self._server = UnixServer(self.application, SANDBOX)
        self._endpoints: dict[str, ModelEndpoint] = {}

    async def open(
        self,
        session: str,
        *,
        searched: Searched | None = None,
        asked_by: tuple[str, str] | None = None,
        most_tokens: int | None = None,
        wanted: str | None = None,
        stays: bool = False,
    ) -> ModelEndpoint:
        """The endpoint of a session, opened if it is not yet; its folder is what a sandbox mounts.

        Without `searched` the provider may not search the web for it. `wanted` is the model that was chosen, and with `stays`
        nothing goes to one elsewhere. Errors: Stopped, OSError, those of `Upstream.chosen`.
        """
        self.kill_switch.check()
        provider = self.upstream.chosen(wanted, stays=stays)
        if endpoint := self._endpoints.get(session):
            endpoint.wanted, endpoint.stays = wanted, stays
            return endpoint
        credential = self.upstream.credential(provider)
        kind = credential.kind if credential else CredentialKind.API_KEY
        folder = private_folder(self._home.run / "sandbox" / session / "box")
        endpoint = ModelEndpoint(session, folder, kind, new_token(kind), searched, asked_by, most_tokens)
        endpoint.wanted, endpoint.stays = wanted, stays
        self._endpoints[session] = endpoint
        try:
            # The agent inside the sandbox has another user id on some engines; the folder above is 0700.
            endpoint.listener = await self._server.open(
                folder / SOCKET_NAME, 0o666, endpoint=endpoint, budget=self._server.limiter.budget
            )
        except BaseException:
            self._endpoints.pop(session, None)
            raise
        if self._endpoints.get(session) is not endpoint:
            # Closed while it was being opened.
            endpoint.listener.close()
            raise Unavailable(
                f"The model endpoint of session {session} was closed.", "Send the message again.", key="endpoint_closed"
            )
        return endpoint

    async def close(self, session: str) -> None:
        """Close a session's endpoint: from now on nothing answers on its socket."""
        if endpoint := self._endpoints.pop(session, None):
            endpoint.closed = True
            if endpoint.listener is not None:
                await endpoint.listener.break_off(_CLOSE_SECONDS)

    def resume(self, session: str) -> None:
        """Let a session ask the model: a turn of it begins."""
        if endpoint := self._endpoints.get(session):
            endpoint.paused = False
            endpoint.silent.clear()

    def pause(self, session: str) -> None:
        """Refuse what a session asks from now on, and break off what it asks: what it left running pays for nothing."""
        if endpoint := self._endpoints.get(session):
            endpoint.paused = True
            for connection in list(endpoint.connections):
                connection.break_off()

    async def close_all(self) -> None:
        """Close every endpoint and every connection to a provider."""
        for session in list(self._endpoints):
            await self.close(session)
        await self.upstream.close()
        await self.spending.close()

    def take_problem(self, session: str) -> Problem | None:
        """The last problem of a session's endpoint, once."""
        endpoint = self._endpoints.get(session)
        if endpoint is None:
            return None
        problem, endpoint.problem = endpoint.problem, None
        return problem

    def take_used(self, session: str) -> Usage:
        """Return the usage of a session since the last call."""
        endpoint = self._endpoints.get(session)
        if endpoint is None:
            return Usage()
        used, endpoint.used = endpoint.used, Usage()
        return used

    async def costs(self, by: Grouping, days: int) -> list[tuple[str, Usage]]:
        """Return the usage of the last days, today included, by each of `by`."""
        first = date.fromisoformat(self._usage.today()) - timedelta(days=days - 1)
        return await self._usage.grouped(by, first.isoformat())

    async def used_by(self, session: str) -> Usage:
        """All that a session has used."""
        return await self._usage.of_session(session)

    async def status(self) -> ProviderStatus:
        """Provider, credential and spending, for people."""
        payer = Payer.NOBODY
        try:
            provider = self.upstream.provider
            name, because, credential = provider.name, provider.chosen_because, self.upstream.credential(provider)
            payer = payer_of(provider, credential)
            model = provider.model if provider.is_offline else self.upstream.default_model
            address = None if provider.is_offline or is_anthropic(provider.base_url) else provider.base_url
        except ParachuteError as error:
            name, because, credential, model, address = None, str(error), None, None, None
        return ProviderStatus(
            provider=name,
            because=because,
            model=model,
            address=address,
            credential=self._shown(credential) if credential else None,
            spent_today=round(await self.spending.today(), 4),
            daily_spending_limit=self.spending.limit(Payer.KEY),
            tokens_today=await self.spending.tokens_today(),
            daily_token_limit=self.spending.limit(Payer.SUBSCRIPTION),
            limit_reached=await self.spending.over_limit(payer),
        )

    def _shown(self, credential: Credential) -> ShownCredential:
        problem = self.upstream.login.problem(credential) if credential.renewable else None
        ends, has_ended = credential.lasts_until, credential.has_ended(self.upstream.clock)
        ends_at = datetime.fromtimestamp(ends, UTC).isoformat() if ends else None
        return ShownCredential(
            credential.source, credential.kind.value, has_ended, str(problem) if problem else None, ends_at
        )

    async def subscription(self) -> Subscription:
        """The limits of a subscription; with other credentials `error` says why there are none."""
        windows, error = Windows(), None
        try:
            windows = await self.upstream.subscription()
        except ParachuteError as failure:
            error = failure.message
        return Subscription(
            **asdict(windows),
            spent_today=round(await self.spending.today(), 4),
            tokens_today=await self.spending.tokens_today(),
            daily_token_limit=self.spending.limit(Payer.SUBSCRIPTION),
            error=error,
        )
