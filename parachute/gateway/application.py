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

from parachute.base.budget import VALUES_OF_AGENT, Budget, has_few_values
from parachute.errors import ParachuteError
from parachute.gateway import account, content
from parachute.gateway.accounting import UsageReader
from parachute.gateway.models import Credential, CredentialKind, Problem, Provider, Usage
from parachute.gateway.prices import BYTES_OF_TOKEN, estimate
from parachute.gateway.reasons import reason_of
from parachute.gateway.service import Gateway, Line
from parachute.gateway.spending import LimitReached

_MESSAGES = "/v1/messages"
_PATHS = {("POST", _MESSAGES), ("POST", "/v1/messages/count_tokens")}
_BODY_LIMIT = 32 * 1024 * 1024  # Anthropic's own limit of a request
_LARGE = 256 * 1024  # bytes of JSON that take about a millisecond: more goes to a thread
_RETRY_LIMIT = 86_400.0
_QUERY = re.compile(rb"[A-Za-z0-9_=&.%-]{0,500}")
_REQUEST_HEADERS = (b"accept", b"anthropic-beta", b"anthropic-version", b"content-type", b"user-agent", b"x-app")
_QUESTION: dict[str, Any] = {
    "path": _MESSAGES,
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
        held = _Held(self._gateway.server.door.budget, line)
        try:
            raw = await self._admitted(scope, receive, line, held)
            await _unless_left(receive, exchange, self._pass_on(scope, raw, exchange, line))
        except Refused as refusal:
            if refusal.code:
                line.problem = Problem(refusal.code, refusal.message, refusal.status)
            # After the first bytes, ending the connection early is how HTTP says that something is missing.
            if not exchange.status:
                await exchange.refuse(refusal)
        finally:
            held.release()
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

    async def _admitted(self, scope: Scope, receive: Receive, line: Line, held: "_Held") -> bytearray:
        """The body of a request that may come in at all; error: Refused."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        bearer = headers.get(b"authorization", b"").decode(errors="replace").removeprefix("Bearer ")
        if line.closed or not line.accepts(headers.get(b"x-api-key", b"").decode(errors="replace") or bearer):
            raise Refused(401, "authentication_error", "This token does not belong to this session.")
        if line.paused:
            raise Refused(403, "permission_error", "The model can be asked during a turn of this session only.")
        if (scope["method"], scope["path"]) not in _PATHS:
            raise Refused(404, "not_found_error", f"{scope['method']} {scope['path'][:200]} is not open to agents.")
        if not _QUERY.fullmatch(scope["query_string"]):
            raise Refused(400, "invalid_request_error", "The query is not one of the Messages API.")
        async with line.bodies:
            return await _body(receive, held)

    async def _pass_on(self, scope: Scope, raw: bytes | bytearray, exchange: "_Exchange", line: Line) -> None:
        size = len(raw)
        async with line.bodies:
            body, model = await _parsed(raw)
            del raw
            provider = self._provider()
            if provider.name != "offline" and not self._gateway.allows_model(model):
                message = f"The model {model} is not among allowed_models."
                raise Refused(403, "permission_error", message, "service_error")
            if provider.name != "offline" and (sentence := content.refusal(body, searches=line.searches)):
                raise Refused(403, "permission_error", sentence, "service_error")
            tokens = _output_tokens(body) if scope["path"] == _MESSAGES else 0
            is_streamed = body.get("stream") is True
            # Written anew, so that what was checked is what is sent: of two members of one name others may take the first.
            payload = await _written({**body, "model": provider.model or model}, size)
            del body
        headers = {
            name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in _REQUEST_HEADERS
        }
        url = f"{provider.base_url.rstrip('/')}{scope['path']}"
        if scope["query_string"]:
            url += f"?{scope['query_string'].decode()}"
        unsaid = None
        if provider.name == "anthropic" and scope["path"] == _MESSAGES:
            unsaid = Usage(1, size // BYTES_OF_TOKEN, 0 if is_streamed else tokens)
        request = _Request(line, provider, url, payload, headers, model, unsaid)
        try:
            async with self._gateway.spending.reserved(model, estimate(size, tokens), provider):
                credential = self._credential(provider)
                if not await self._send(request, credential, exchange, may_renew=provider.name == "anthropic"):
                    # `claude login` or the user may have renewed it since.
                    await self._send(request, self._credential(provider), exchange, may_renew=False)
        except LimitReached as error:
            raise Refused(400, "invalid_request_error", error.message, "billing_error") from error

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
        reader: UsageReader | None = UsageReader(True, request.unsaid)
        try:
            async with client.stream("POST", request.url, content=request.payload, headers=headers) as response:
                reader = None
                if response.status_code == 401 and may_renew and self._credential(provider) != credential:
                    return False
                if response.status_code >= 400:
                    line.problem = await _problem(response, credential)
                else:
                    is_streamed = response.headers.get("content-type", "").startswith("text/event-stream")
                    reader = UsageReader(is_streamed, request.unsaid)
                kept = [(name, response.headers[name]) for name in _RESPONSE_HEADERS if name in response.headers]
                await exchange.start(response.status_code, kept)
                async for part in _parts(response, credential):
                    if reader:
                        reader.feed(part)
                    await exchange.part(part)
                # Before the end of the answer, so that the next request meets the limit.
                complete, reader = reader, None
                await self._account(request, complete)
                if response.status_code == 200:
                    line.problem = None
                await exchange.end()
                return True
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            if not exchange.status:
                reader = None
            message = f"The model's service at {provider.base_url} does not answer: {reason_of(error)}."
            raise Refused(502, "api_error", message, "network_error") from error
        finally:
            # Also when the agent has left: what was answered until then is paid.
            await self._account(request, reader)

    async def _account(self, request: "_Request", reader: UsageReader | None) -> None:
        if reader is None:
            return
        reader.finish()
        if reader.usage.input_tokens or reader.usage.output_tokens:
            await self._gateway.spending.account(request.line.session, request.model, reader.usage, request.provider)

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
                    "No credentials for Claude are configured. `parachute auth login` stores them.",
                    "invalid_credentials",
                )
            if credential.expired:
                raise Refused(
                    401,
                    "authentication_error",
                    f"The credential in {credential.source} has expired. Run `claude login` again, "
                    "or store an API key or a token of `claude setup-token` with `parachute auth login`.",
                    "expired_token",
                )
        return credential


@dataclass(frozen=True, slots=True)
class _Request:
    """A checked request on its way to the provider; `model` is the one that the agent asked for.

    `unsaid` is what counts if it is broken off before the provider has said what it used.
    """

    line: Line
    provider: Provider
    url: str
    payload: bytes
    headers: dict[str, str]
    model: str
    unsaid: Usage | None


class _Held:
    """The bytes that are kept of one request."""

    def __init__(self, budget: Budget, line: Line) -> None:
        self._budget = budget
        self._peer = line.token
        self._size = 0

    def add(self, size: int) -> None:
        """Keep so many more; error: Refused."""
        if not self._budget.hold(self._peer, size):
            message = "Too many large requests to the model are on their way at once."
            raise Refused(529, "overloaded_error", message, "service_unavailable")
        self._size += size

    def release(self) -> None:
        """Keep nothing any more."""
        self._budget.release(self._peer, self._size)
        self._size = 0


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


async def _parsed(raw: bytes | bytearray) -> tuple[dict[str, Any], str]:
    try:
        body = _read(raw) if len(raw) < _LARGE else await asyncio.to_thread(_read, raw)
        if not isinstance(body, dict) or not isinstance(model := body.get("model"), str):
            raise ValueError("expected an object with `model`")
    except (ValueError, RecursionError) as error:
        raise Refused(400, "invalid_request_error", f"The request cannot be read: {error}.") from error
    return body, model


def _read(raw: bytes | bytearray) -> Any:
    if not has_few_values(raw, VALUES_OF_AGENT):
        raise ValueError(f"it has more than {VALUES_OF_AGENT:,} values")
    return json.loads(raw)


async def _written(body: dict[str, Any], size: int) -> bytes:
    try:
        text = json.dumps(body) if size < _LARGE else await asyncio.to_thread(json.dumps, body)
    except RecursionError as error:
        raise Refused(400, "invalid_request_error", f"The request cannot be read: {error}.") from error
    return text.encode()


def _output_tokens(body: dict[str, Any]) -> int:
    tokens = body.get("max_tokens")
    return tokens if isinstance(tokens, int) and tokens > 0 else 0


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


async def _body(receive: Receive, held: _Held) -> bytearray:
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "invalid_request_error", "The request was not complete.")
        part = message.get("body", b"")
        if len(parts) + len(part) > _BODY_LIMIT:
            raise Refused(413, "request_too_large", f"A request may have {_BODY_LIMIT:,} bytes.", "context_exceeded")
        held.add(len(part))
        parts += part
        if not message.get("more_body"):
            return parts
