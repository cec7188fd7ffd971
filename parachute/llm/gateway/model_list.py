"""The models of every provider, under the names by which conversations choose them."""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.llm.gateway.models import Provider
from parachute.llm.gateway.providers import is_anthropic
from parachute.llm.gateway.reports import ListedModel, ProviderModels
from parachute.llm.gateway.upstream import Upstream

_SECONDS = 5.0
"""Longest wait for the list of one of several providers."""

_EPOCH = "1970-01-01T00:00:00Z"


class ModelList:
    """Lists models; a provider that does not answer has the one that the settings name."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def all(self, show_all: bool) -> list[ListedModel]:
        """Return the models that conversations can choose; error: Unavailable where the only provider does not answer."""
        providers = self._upstream.every()
        if len(providers) == 1 and not providers[0].prefix:
            return await self._upstream.models(show_all)
        found = await asyncio.gather(*(self._of(each, show_all) for each in providers))
        return [model for models, _ in found for model in models]

    async def providers(self) -> list[ProviderModels]:
        """Return every provider with its models, and what it showed when it was connected."""
        return await asyncio.gather(*map(self._shown, self._upstream.every()))

    async def _shown(self, provider: Provider) -> ProviderModels:
        models, problem = await self._of(provider, True)
        facts = self._upstream.servers.get(provider)
        try:
            has_credential = self._upstream.credential(provider) is not None
        except ParachuteError as error:
            has_credential, problem = False, problem or error.message
        return ProviderModels(
            name=provider.called,
            kind=provider.name,
            address=None if provider.is_offline or is_anthropic(provider.base_url) else provider.base_url,
            model=provider.model or provider.asked,
            at_home=provider.at_home,
            has_credential=has_credential,
            models=[model.id for model in models],
            problem=problem,
            window=self._upstream.servers.window(provider),
            tools=facts.tools if facts else None,
            streams=facts.streams if facts else None,
            counts=facts.counts if facts else None,
            asked_at=facts.asked_at if facts else None,
        )

    async def _of(self, provider: Provider, show_all: bool) -> tuple[Sequence[ListedModel], str | None]:
        """Return the models of a provider by their whole names, and why it has no list."""
        if provider.is_offline:
            return [self._named(provider, self._own(provider))], None
        problem = None
        try:
            async with asyncio.timeout(_SECONDS):
                found = await self._upstream.models_of(provider, show_all)
        except (ParachuteError, TimeoutError) as error:
            problem = error.message if isinstance(error, ParachuteError) else f"{provider.base_url} does not answer."
            found = [self._own(provider)] if provider.model or provider.asked else []
        allowed = [model for model in found if self._upstream.allows_model(model.id, provider)]
        return [self._named(provider, model) for model in allowed], problem

    def _own(self, provider: Provider) -> ListedModel:
        name = provider.model or provider.asked or ""
        return ListedModel(name, name, _EPOCH, "other", False, provider.at_home)

    def _named(self, provider: Provider, model: ListedModel) -> ListedModel:
        if not provider.prefix:
            # A name with a slash would be taken for one of another provider.
            return replace(model, id=f"{provider.called}/{model.id}") if "/" in model.id else model
        return replace(
            model, id=f"{provider.prefix}{model.id}", display_name=f"{model.display_name} ({provider.called})"
        )
