"""The ASGI application of model endpoints: a few paths of the Messages API, passed on with the real credential."""

import json
import logging
import re
import time
from collections.abc import Iterable
from functools import partial
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from parachute.base.errors import ParachuteError, Unavailable
from parachute.llm.gateway.accounting import UsageReader
from parachute.llm.gateway.answer import parts_of, problem_of, with_credential
from parachute.llm.gateway.body import Held, parsed, read_body
from parachute.llm.gateway.endpoint import NOT_IN_TURN, ModelEndpoint
from parachute.llm.gateway.exchange import Exchange, Refused, unless_left
from parachute.llm.gateway.login import SignInAgain
from parachute.llm.gateway.models import Credential, Problem, Provider, payer_of, used_in
from parachute.llm.gateway.requests import MESSAGES, Asked, Request, Requests, Silent
from parachute.llm.gateway.spending import LimitReached, Spending
from parachute.llm.gateway.upstream import Upstream, reason_of
from parachute.security.audit.service import Audit

log = logging.getLogger(__name__)

_PATHS = {("POST", MESSAGES), ("POST", "/v1/messages/count_tokens")}
_QUERY = re.compile(rb"[A-Za-z0-9_=&.%-]{0,500}")
_REQUEST_HEADERS = (b"accept", b"anthropic-beta", b"anthropic-version", b"content-type", b"user-agent", b"x-app")
_QUESTION: dict[str, Any] = {
    "path": MESSAGES,
    "query_string": b"",
    "headers": [(b"content-type", b"application/json"), (b"anthropic-version", b"2023-06-01")],
}
"""The scope of a question of our own."""

_RESPONSE_HEADERS = ("content-type", "request-id", "retry-after")


class GatewayApplication:
    """An ASGI application; `scope["state"]["endpoint"]` says whose socket it is."""

    def __init__(self, upstream: Upstream, spending: Spending, audit: Audit) -> None:
        self._upstream = upstream
        self._requests = Requests(upstream)
        self._spending = spending
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        endpoint: ModelEndpoint = scope["state"]["endpoint"]
        started, exchange = time.monotonic(), Exchange(send)
        held = Held(scope["state"]["budget"], endpoint)
        try:
            raw = await self._admitted(scope, receive, endpoint, held)
            await unless_left(receive, exchange, self._pass_on(scope, raw, exchange, endpoint))
        except Refused as refusal:
            if refusal.code:
                endpoint.problem = Problem(refusal.code, refusal.message, refusal.status, key=refusal.key)
            # After the first bytes, ending the connection early is how HTTP says that something is missing.
            if not exchange.status:
                await exchange.refuse(refusal)
        finally:
            held.release()
            self._record(exchange, endpoint, scope["path"], started)

    async def ask(self, endpoint: ModelEndpoint, body: dict[str, Any]) -> bytes:
        """Send on a request of our own, and return the whole answer.

        Error: Refused, also for an answer that is an error; then `endpoint.problem` says more.
        """
        kept = bytearray()

        async def keep(message: Message) -> None:
            kept.extend(message.get("body", b""))

        started, exchange = time.monotonic(), Exchange(keep)
        try:
            await self._pass_on(_QUESTION, json.dumps(body).encode(), exchange, endpoint)
        except Refused as refusal:
            if not exchange.status:
                exchange.status, exchange.complete = refusal.status, True
            raise
        finally:
            self._record(exchange, endpoint, _QUESTION["path"], started)
        if endpoint.problem is not None:
            raise Refused(exchange.status, "api_error", endpoint.problem.message, endpoint.problem.code)
        return bytes(kept)

    def _record(self, exchange: Exchange, endpoint: ModelEndpoint, path: str, started: float) -> None:
        source = endpoint.source
        is_well = 200 <= exchange.status < 400 and exchange.complete
        reason = f"status {exchange.status}" if exchange.complete else "broken off"
        self._audit.append(
            event_type="gateway_call",
            source_type=source[0],
            source_id=source[1],
            target_module="gateway",
            target_endpoint=path,
            duration_ms=round((time.monotonic() - started) * 1000),
            success=is_well,
            error=None if is_well else reason,
            session=endpoint.session if endpoint.asked_by is None else None,
            subject=endpoint.subject,
            model=exchange.model,
            **(used_in(exchange.used) if exchange.used else {}),
        )

    async def _admitted(self, scope: Scope, receive: Receive, endpoint: ModelEndpoint, held: Held) -> bytearray:
        """The body of a request that may come in at all; error: Refused."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        bearer = headers.get(b"authorization", b"").decode(errors="replace").removeprefix("Bearer ")
        if endpoint.closed or not endpoint.accepts(headers.get(b"x-api-key", b"").decode(errors="replace") or bearer):
            raise Refused(401, "authentication_error", "This token does not belong to this session.")
        if endpoint.paused:
            raise Refused(403, "permission_error", NOT_IN_TURN)
        if (scope["method"], scope["path"]) not in _PATHS:
            raise Refused(404, "not_found_error", f"{scope['method']} {scope['path'][:200]} is not open to agents.")
        if not _QUERY.fullmatch(scope["query_string"]):
            raise Refused(400, "invalid_request_error", "The query is not one of the Messages API.")
        async with endpoint.bodies:
            return await read_body(receive, held)

    async def _pass_on(self, scope: Scope, raw: bytes | bytearray, exchange: Exchange, endpoint: ModelEndpoint) -> None:
        size = len(raw)
        async with endpoint.bodies:
            body, model = await parsed(raw)
            del raw
            chosen, *others = self._providers(endpoint, scope["path"])
            asked = Asked(scope["path"], scope["query_string"], _passed(scope["headers"]), body, model, size)
            request = await self._requests.made(endpoint, chosen, asked)
            if not others:
                del body, asked
        try:
            await self._ask(request, exchange, may_fall_back=bool(others))
        except Silent as silence:
            if exchange.status:
                raise
            endpoint.silent.add(chosen.called)
            for number, other in enumerate(others, 1):
                try:
                    request = await self._requests.made(endpoint, other, asked, instead_of=silence)
                    await self._ask(request, exchange, may_fall_back=number < len(others))
                    return
                except Refused as refusal:
                    if exchange.status:
                        raise
                    if isinstance(refusal, Silent):
                        endpoint.silent.add(other.called)
                    log.info("%s does not answer in place of %s: %s", other.called, chosen.called, refusal.message)
            raise

    async def _ask(self, request: Request, exchange: Exchange, *, may_fall_back: bool) -> None:
        """Send a request, once more with another credential if there is one; errors: Refused, Silent before the first bytes."""
        provider = request.provider
        try:
            payer = payer_of(provider, await self._credential(provider))
            async with self._spending.reserved(request.model, request.most, payer, request.endpoint.subject):
                credential = await self._credential(provider)
                may_renew = provider.name == "anthropic"
                sent = partial(self._send, request, exchange=exchange, may_fall_back=may_fall_back)
                if not await sent(credential=credential, may_renew=may_renew):
                    # `claude login` or the user may have renewed it since, or we have.
                    await sent(credential=await self._credential(provider), may_renew=False)
        except LimitReached as error:
            raise Refused(400, "invalid_request_error", error.message, "billing_error") from error

    def _providers(self, endpoint: ModelEndpoint, path: str) -> list[Provider]:
        """The provider of a session and those that may answer in its place; whichever was silent in this turn is not asked again."""
        try:
            chosen = self._upstream.chosen(endpoint.wanted, stays=endpoint.stays)
        except ParachuteError as error:
            raise Refused(400, "invalid_request_error", str(error), "service_error") from error
        others = self._upstream.instead_of(chosen, stays=endpoint.stays) if path == MESSAGES else []
        found = [chosen, *others]
        return [each for each in found if each.called not in endpoint.silent] or found

    async def _send(
        self,
        request: Request,
        *,
        credential: Credential | None,
        exchange: Exchange,
        may_renew: bool,
        may_fall_back: bool,
    ) -> bool:
        """Send the request and its answer on; False if another credential is there now and should be tried."""
        import httpx2

        endpoint, provider = request.endpoint, request.provider
        client = await self._client(provider)
        headers = with_credential(request.headers, credential)
        reader: UsageReader | None = UsageReader(True, request.unsaid)
        try:
            async with client.stream("POST", request.url, content=request.payload, headers=headers) as response:
                reader = None
                if response.status_code == 401:
                    if may_renew and await self._credential(provider, refused=credential) != credential:
                        return False
                elif response.status_code < 400 and credential is not None:
                    self._upstream.login.accepted(credential)
                if response.status_code >= 500 and may_fall_back:
                    problem = await problem_of(response, credential, self._upstream.clock)
                    raise Silent(provider, f"it answered {response.status_code}", problem.message, problem.code)
                if request.instead_of is not None and response.status_code < 400:
                    endpoint.say_instead(provider, request.instead_of)
                if response.status_code >= 400:
                    endpoint.problem = await problem_of(response, credential, self._upstream.clock)
                else:
                    is_streamed = response.headers.get("content-type", "").startswith("text/event-stream")
                    reader = UsageReader(is_streamed, request.unsaid)
                kept = [(name, response.headers[name]) for name in _RESPONSE_HEADERS if name in response.headers]
                await exchange.start(response.status_code, kept)
                async for part in parts_of(response, credential):
                    if reader:
                        reader.feed(part)
                        # Before the agent reads it: it would ask for the rest.
                        endpoint.paused |= request.is_bounded and reader.is_cut
                    await exchange.part(part)
                # Before the end of the answer, so that the next request meets the limit.
                complete, reader = reader, None
                await self._account(request, complete, credential, exchange)
                endpoint.paused |= request.is_bounded and complete is not None and complete.is_cut
                if response.status_code == 200:
                    endpoint.problem = None
                await exchange.end()
                return True
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            if not exchange.status:
                reader = None
            message = f"The model's service at {provider.base_url} does not answer: {reason_of(error)}."
            raise Silent(provider, reason_of(error), message, "network_error") from error
        finally:
            # Also when the agent has left: what was answered until then is paid.
            await self._account(request, reader, credential, exchange)

    async def _account(
        self, request: Request, reader: UsageReader | None, credential: Credential | None, exchange: Exchange
    ) -> None:
        if reader is None:
            return
        reader.finish()
        if reader.usage.input_tokens or reader.usage.output_tokens:
            payer = payer_of(request.provider, credential)
            exchange.model, exchange.used = request.model, reader.usage
            endpoint = request.endpoint
            await self._spending.account(endpoint.account, request.model, endpoint.subject, reader.usage, payer)
            endpoint.used.add(reader.usage)

    async def _client(self, provider: Provider) -> Any:
        try:
            return await self._upstream.client(provider)
        except ParachuteError as error:
            raise Refused(503, "api_error", str(error), "service_unavailable") from error

    async def _credential(self, provider: Provider, refused: Credential | None = None) -> Credential | None:
        try:
            credential = await self._upstream.fresh_credential(provider, refused)
        except Unavailable as error:
            raise Refused(502, "api_error", str(error), "network_error") from error
        except SignInAgain as error:
            raise Refused(401, "authentication_error", str(error), "expired_token") from error
        except ParachuteError as error:
            raise Refused(401, "authentication_error", str(error), "invalid_credentials") from error
        if provider.name == "anthropic":
            if credential is None:
                raise Refused(
                    401,
                    "authentication_error",
                    "No credentials for Claude are configured. `parachute auth login` stores them.",
                    "invalid_credentials",
                )
            if credential.is_expired(self._upstream.clock):
                raise Refused(
                    401,
                    "authentication_error",
                    f"The credential in {credential.source} has expired. Run `claude login` again, "
                    "or store an API key or a token of `claude setup-token` with `parachute auth login`.",
                    "expired_token",
                )
        return credential


def _passed(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode(): value.decode("latin-1") for name, value in headers if name in _REQUEST_HEADERS}
