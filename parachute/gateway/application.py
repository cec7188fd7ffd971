"""What answers on an agent's model socket: a few paths of the Messages API, passed on with the real credential."""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from parachute.errors import ParachuteError
from parachute.gateway import account, content
from parachute.gateway.accounting import UsageReader
from parachute.gateway.models import Credential, CredentialKind, Problem, Provider
from parachute.gateway.reasons import reason_of
from parachute.gateway.service import Gateway, Line

_PATHS = {("POST", "/v1/messages"), ("POST", "/v1/messages/count_tokens")}
_BODY_LIMIT = 32 * 1024 * 1024  # Anthropic's own limit of a request
_LARGE = 256 * 1024  # bytes of JSON that take about a millisecond: more goes to a thread
_RETRY_LIMIT = 86_400.0
_QUERY = re.compile(rb"[A-Za-z0-9_=&.%-]{0,500}")
_REQUEST_HEADERS = (b"accept", b"anthropic-beta", b"anthropic-version", b"content-type", b"user-agent", b"x-app")
_QUESTION: dict[str, Any] = {
    "path": "/v1/messages",
    "query_string": b"",
    "headers": [(b"content-type", b"application/json"), (b"anthropic-version", b"2023-06-01")],
}
"""What stands around a question of our own, as it would around an agent's."""

_RESPONSE_HEADERS = ("content-type", "request-id", "retry-after")

_CODES = {
    400: "service_error",
    401: "invalid_credentials",
    402: "billing_error",
    403: "invalid_credentials",
    429: "rate_limited",
    529: "service_unavailable",
}


class Refused(Exception):
    """The request is not passed on; the agent gets `status` and `kind`, the app the problem's code."""

    def __init__(self, status: int, kind: str, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status, self.kind, self.message, self.code = status, kind, message, code


class GatewayApplication:
    """An ASGI application; `scope["state"]["line"]` says whose socket it is."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        line: Line = scope["state"]["line"]
        started, exchange = time.monotonic(), _Exchange(send)
        try:
            raw = await self._admitted(scope, receive, line)
            await _unless_left(receive, exchange, self._pass_on(scope, raw, exchange, line))
        except Refused as refusal:
            if refusal.code:
                line.problem = Problem(refusal.code, refusal.message, refusal.status)
            # After the first bytes, ending the connection early is how HTTP says that something is missing.
            if not exchange.status:
                await exchange.refuse(refusal)
        finally:
            self._record(exchange, ("agent", line.session), scope["path"], started)

    async def ask(self, line: Line, body: dict[str, Any], source: tuple[str, str]) -> bytes:
        """Send on a request of our own, and return the whole answer; `source` (kind, name) goes to the audit.

        Error: Refused, also for an answer that is an error; then `line.problem` says more.
        """
        kept = bytearray()

        async def keep(message: Message) -> None:
            kept.extend(message.get("body", b""))

        started, exchange = time.monotonic(), _Exchange(keep)
        try:
            await self._pass_on(_QUESTION, json.dumps(body).encode(), exchange, line)
        except Refused as refusal:
            if not exchange.status:
                exchange.status, exchange.complete = refusal.status, True
            raise
        finally:
            self._record(exchange, source, _QUESTION["path"], started)
        if line.problem is not None:
            raise Refused(exchange.status, "api_error", line.problem.message, line.problem.code)
        return bytes(kept)

    def _record(self, exchange: "_Exchange", source: tuple[str, str], path: str, started: float) -> None:
        is_well = 200 <= exchange.status < 400 and exchange.complete
        reason = f"status {exchange.status}" if exchange.complete else "broken off"
        self._gateway.audit.append(
            event_type="gateway_call",
            source_type=source[0],
            source_id=source[1],
            target_module="gateway",
            target_endpoint=path,
            duration_ms=round((time.monotonic() - started) * 1000),
            success=is_well,
            error=None if is_well else reason,
        )

    async def _admitted(self, scope: Scope, receive: Receive, line: Line) -> bytes:
        """The body of a request that may come in at all; error: Refused."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        bearer = headers.get(b"authorization", b"").decode(errors="replace").removeprefix("Bearer ")
        if line.closed or not line.accepts(headers.get(b"x-api-key", b"").decode(errors="replace") or bearer):
            raise Refused(401, "authentication_error", "This token does not belong to this session.")
        if (scope["method"], scope["path"]) not in _PATHS:
            raise Refused(404, "not_found_error", f"{scope['method']} {scope['path'][:200]} is not open to agents.")
        if not _QUERY.fullmatch(scope["query_string"]):
            raise Refused(400, "invalid_request_error", "The query is not one of the Messages API.")
        return await _body(receive)

    async def _pass_on(self, scope: Scope, raw: bytes, exchange: "_Exchange", line: Line) -> None:
        body, model = await _parsed(raw)
        provider = self._provider()
        if provider.name != "offline" and not self._gateway.allows_model(model):
            raise Refused(403, "permission_error", f"The model {model} is not among allowed_models.", "service_error")
        if provider.name != "offline" and (sentence := content.refusal(body, searches=line.searches)):
            raise Refused(403, "permission_error", sentence, "service_error")
        if provider.name == "anthropic" and (sentence := await self._gateway.over_limit()):
            raise Refused(400, "invalid_request_error", sentence, "billing_error")
        # Written anew, so that what was checked is what is sent: of two members of one name others may take the first.
        payload = await _written({**body, "model": provider.model or model}, len(raw))
        headers = {
            name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _REQUEST_HEADERS
        }
        url = f"{provider.base_url.rstrip('/')}{scope['path']}"
        if scope["query_string"]:
            url += f"?{scope['query_string'].decode()}"
        request = _Request(line, provider, url, payload, headers, model)
        credential = self._credential(provider)
        if not await self._send(request, credential, exchange, may_renew=provider.name == "anthropic"):
            # `claude login` or the user may have renewed it since.
            await self._send(request, self._credential(provider), exchange, may_renew=False)

    def _provider(self) -> Provider:
        try:
            return self._gateway.provider
        except ParachuteError as error:
            raise Refused(400, "invalid_request_error", str(error), "service_error") from error

    async def _send(
        self, request: "_Request", credential: Credential | None, exchange: "_Exchange", *, may_renew: bool
    ) -> bool:
        """Send the request and its answer on; False if another credential is there now and should be tried."""
        import httpx2

        line, provider = request.line, request.provider
        client = await self._client(provider)
        headers = _with_credential(request.headers, credential)
        try:
            async with client.stream("POST", request.url, content=request.payload, headers=headers) as response:
                if response.status_code == 401 and may_renew and self._credential(provider) != credential:
                    return False
                if response.status_code >= 400:
                    line.problem = await _problem(response, credential)
                kept = [(name, response.headers[name]) for name in _RESPONSE_HEADERS if name in response.headers]
                await exchange.start(response.status_code, kept)
                await self._copy(request, response, credential, exchange)
                if response.status_code == 200:
                    line.problem = None
                await exchange.end()
                return True
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            message = f"The model's service at {provider.base_url} does not answer: {reason_of(error)}."
            raise Refused(502, "api_error", message, "network_error") from error

    async def _copy(
        self, request: "_Request", response: Any, credential: Credential | None, exchange: "_Exchange"
    ) -> None:
        reader = UsageReader(response.headers.get("content-type", "").startswith("text/event-stream"))
        try:
            async for part in _parts(response, credential):
                reader.feed(part)
                await exchange.part(part)
        finally:
            # Before the end of the answer, so that the next request meets the limit; and also when the agent has left:
            # what was answered until then is paid.
            reader.finish()
            if reader.usage.input_tokens or reader.usage.output_tokens:
                await self._gateway.account(request.line.session, request.model, reader.usage, request.provider)

    async def _client(self, provider: Provider) -> Any:
        try:
            return await self._gateway.client(provider)
        except ParachuteError as error:
            raise Refused(503, "api_error", str(error), "service_unavailable") from error

    def _credential(self, provider: Provider) -> Credential | None:
        try:
            credential = self._gateway.credential(provider)
        except ParachuteError as error:
            raise Refused(401, "authentication_error", str(error), "invalid_credentials") from error
        if provider.name == "anthropic":
            if credential is None:
                raise Refused(
                    401,
                    "authentication_error",
                    "No credentials for Claude are configured. Set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN and restart.",
                    "invalid_credentials",
                )
            if credential.expired:
                raise Refused(
                    401,
                    "authentication_error",
                    f"The credential in {credential.source} has expired. Run `claude login` again, "
                    "or set a long-lived token of `claude setup-token` as CLAUDE_CODE_OAUTH_TOKEN and restart.",
                    "expired_token",
                )
        return credential


@dataclass(frozen=True, slots=True)
class _Request:
    """A checked request on its way to the provider; `model` is the one that the agent asked for."""

    line: Line
    provider: Provider
    url: str
    payload: bytes
    headers: dict[str, str]
    model: str


class _Exchange:
    """The agent's side of one request; `status` is 0 until the answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0
        self.complete = False

    async def start(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.status = status
        encoded = [(name.encode(), value.encode("latin-1", errors="replace")) for name, value in headers]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def part(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        await self._send({"type": "http.response.body", "body": b""})
        self.complete = True

    async def refuse(self, refusal: Refused) -> None:
        body = json.dumps({"type": "error", "error": {"type": refusal.kind, "message": refusal.message}}).encode()
        await self.start(refusal.status, [("content-type", "application/json"), ("content-length", str(len(body)))])
        await self.part(body)
        await self.end()


async def _unless_left(receive: Receive, exchange: _Exchange, passing: Coroutine[Any, Any, None]) -> None:
    """Carry out `passing`, and end it when the agent leaves: nobody would read the answer, but somebody would pay."""

    async def left() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    work, leaving = asyncio.ensure_future(passing), asyncio.ensure_future(left())
    try:
        both: set[asyncio.Future[Any]] = {work, leaving}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        # The server says the same when the answer is complete.
        if work.done() or exchange.complete:
            await work
    finally:
        leaving.cancel()
        if not work.done():
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, Refused):
                await work


async def _parsed(raw: bytes) -> tuple[dict[str, Any], str]:
    try:
        body = json.loads(raw) if len(raw) < _LARGE else await asyncio.to_thread(json.loads, raw)
        if not isinstance(body, dict) or not isinstance(model := body.get("model"), str):
            raise ValueError("expected an object with `model`")
    except (ValueError, RecursionError) as error:
        raise Refused(400, "invalid_request_error", f"The request cannot be read: {error}.") from error
    return body, model


async def _written(body: dict[str, Any], size: int) -> bytes:
    text = json.dumps(body) if size < _LARGE else await asyncio.to_thread(json.dumps, body)
    return text.encode()


def _with_credential(headers: dict[str, str], credential: Credential | None) -> dict[str, str]:
    """The agent's headers with the credential, and the mark of its kind: it may have changed since the agent started."""
    beta = [name for name in headers.get("anthropic-beta", "").split(",") if name and name != account.OAUTH_MARK]
    if credential is not None and credential.kind is CredentialKind.OAUTH:
        beta.append(account.OAUTH_MARK)
    passed = {name: value for name, value in headers.items() if name != "anthropic-beta"}
    if beta:
        passed["anthropic-beta"] = ",".join(beta)
    return {**passed, **account.headers(credential)}


async def _parts(response: Any, credential: Credential | None) -> AsyncIterator[bytes]:
    if response.is_stream_consumed:
        # Of errors, which some servers answer with a copy of the request: the credential stays out of the box.
        yield response.content.replace(credential.secret.encode(), b"***") if credential else response.content
        return
    async for part in response.aiter_bytes():
        yield part


async def _problem(response: Any, credential: Credential | None) -> Problem:
    await response.aread()
    message = response.text[:1000]
    kind = ""
    try:
        error = response.json()["error"]
        message, kind = str(error["message"])[:1000], str(error["type"])
    except (ValueError, KeyError, TypeError):
        pass  # not an answer of the Messages API: its text has to do
    if credential is not None:
        message = message.replace(credential.secret, "***")
    code = _CODES.get(response.status_code, "service_error")
    if response.status_code == 401 and credential is not None and ("expired" in message.lower() or credential.expired):
        code = "expired_token"
    elif kind == "overloaded_error":
        code = "service_unavailable"
    elif response.status_code in (400, 413) and ("prompt is too long" in message or "exceed context" in message):
        code = "context_exceeded"
    elif "credit balance" in message:
        code = "billing_error"
    retry: float | None = None
    with contextlib.suppress(ValueError):  # it may also be a date
        retry = min(max(float(response.headers.get("retry-after", "")), 0.0), _RETRY_LIMIT)
    return Problem(code, message, response.status_code, retry)


async def _body(receive: Receive) -> bytes:
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "invalid_request_error", "The request was not complete.")
        parts += message.get("body", b"")
        if len(parts) > _BODY_LIMIT:
            raise Refused(413, "request_too_large", f"A request may have {_BODY_LIMIT:,} bytes.", "context_exceeded")
        if not message.get("more_body"):
            return bytes(parts)
