"""Requests of agents on their way to a provider: checked, and written anew for it."""

from typing import Any

from msgspec import Struct

from parachute.llm.gateway import content
from parachute.llm.gateway.body import output_tokens, written
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.exchange import Refused
from parachute.llm.gateway.fitting import Fitting
from parachute.llm.gateway.models import Provider, Usage
from parachute.llm.gateway.prices import BYTES_OF_TOKEN, estimate
from parachute.llm.gateway.upstream import Upstream

MESSAGES = "/v1/messages"


class Silent(Refused):
    """The provider does not answer, and nothing of an answer has come; `reason` is a part of a sentence."""

    def __init__(self, provider: Provider, reason: str, message: str, code: str) -> None:
        super().__init__(502, "api_error", message, code)
        self.provider, self.reason = provider, reason


class Asked(Struct, frozen=True):
    """A request as it came from an agent; `size` is that of its body in bytes."""

    path: str
    query: bytes
    headers: dict[str, str]
    body: dict[str, Any]
    model: str
    size: int


class Request(Struct, frozen=True):
    """A checked request on its way to the provider; `model` is the one that counts, `most` what it may use.

    `unsaid` is what counts if it is broken off before the provider has said what it used. `instead_of` is why another one was
    asked before. `is_bounded`: its answer may have all the tokens of its endpoint, and no more.
    """

    endpoint: ModelEndpoint
    provider: Provider
    url: str
    payload: bytes
    headers: dict[str, str]
    model: str
    most: Usage
    unsaid: Usage | None
    instead_of: Silent | None = None
    is_bounded: bool = False


class Requests:
    """Makes requests for a provider of what agents ask."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._fitting = Fitting(upstream)

    async def made(
        self, endpoint: ModelEndpoint, provider: Provider, asked: Asked, instead_of: Silent | None = None
    ) -> Request:
        """Make a request; error: Refused for what may not go there."""
        body, model, is_message = asked.body, asked.model, asked.path == MESSAGES
        sent = provider.model or model
        self._check(endpoint, provider, sent)
        is_offline = provider.is_offline
        searches = endpoint.searched is not None and endpoint.is_online
        if not is_offline and (sentence := content.refusal(body, searches=searches)):
            raise Refused(403, "permission_error", sentence, "service_error")
        if endpoint.searched is not None and content.may_search(body):
            await endpoint.searched(endpoint.session)
        if is_message and not is_offline:
            body = await self._fitting.fitted(body, endpoint, provider, sent)
        most = output_tokens(body)
        if endpoint.most_tokens and is_message:
            most = min(most, endpoint.most_tokens)
            body = {**body, "max_tokens": most}
        tokens = most if is_message else 0
        is_streamed = body.get("stream") is True
        # Written anew, so that what was checked is what is sent: of two members of one name others may take the first.
        payload = await written({**body, "model": sent}, asked.size)
        url = f"{provider.base_url.rstrip('/')}{asked.path}"
        if asked.query:
            url += f"?{asked.query.decode()}"
        unsaid = None
        if provider.name == "anthropic" and is_message:
            unsaid = Usage(1, asked.size // BYTES_OF_TOKEN, 0 if is_streamed else tokens)
        return Request(
            endpoint,
            provider,
            url,
            payload,
            asked.headers,
            f"{provider.prefix}{sent}",
            estimate(asked.size, tokens),
            unsaid,
            instead_of,
            is_message and most == endpoint.most_tokens,
        )

    def _check(self, endpoint: ModelEndpoint, provider: Provider, model: str) -> None:
        if endpoint.stays and not provider.at_home:
            raise Refused(403, "permission_error", "This conversation stays at home.", "service_error")
        if not provider.is_offline and not self._upstream.allows_model(model, provider):
            named = f"providers.{provider.called}.allowed_models" if provider.prefix else "allowed_models"
            raise Refused(403, "permission_error", f"The model {model} is not among {named}.", "service_error")
