"""What answers on an agent's model socket: a few paths of the Messages API, passed on with the real credential."""

import json
import logging
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.types import Receive, Scope, Send

from parachute.errors import ParachuteError
from parachute.gateway import account
from parachute.gateway.accounting import UsageReader
from parachute.gateway.models import Credential, Problem, Provider
from parachute.gateway.service import Gateway, Line

log = logging.getLogger(__name__)

_PATHS = {("POST", "/v1/messages"), ("POST", "/v1/messages/count_tokens")}
_BODY_LIMIT = 32 * 1024 * 1024  # Anthropic's own limit of a request
_REQUEST_HEADERS = (b"accept", b"anthropic-beta", b"anthropic-version", b"content-type", b"user-agent", b"x-app")
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
        started, status = time.monotonic(), 0
        try:
            status = await self._pass_on(scope, receive, send, line)
        except Refused as refusal:
            status = refusal.status
            if refusal.code:
                line.problem = Problem(refusal.code, refusal.message, refusal.status)
            await _answer(send, refusal.status, refusal.kind, refusal.message)
        finally:
            self._gateway.audit.append(
                event_type="gateway_call",
                source_type="agent",
                source_id=line.session,
                target_module="gateway",
                target_endpoint=scope["path"],
                duration_ms=round((time.monotonic() - started) * 1000),
                success=200 <= status < 400,
                error=None if 200 <= status < 400 else f"status {status}",
            )

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, line: Line) -> int:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        bearer = headers.get(b"authorization", b"").decode(errors="replace").removeprefix("Bearer ")
        if not line.accepts(headers.get(b"x-api-key", b"").decode(errors="replace") or bearer):
            raise Refused(401, "authentication_error", "This token does not belong to this session.")
        path = scope["path"]
        if (scope["method"], path) not in _PATHS:
            raise Refused(404, "not_found_error", f"{scope['method']} {path} is not open to agents.")
        raw = await _body(receive)
        try:
            body = json.loads(raw)
            model = body["model"]
            if not isinstance(model, str):
                raise TypeError("model is not a string")
        except (ValueError, KeyError, TypeError) as error:
            raise Refused(400, "invalid_request_error", f"The request cannot be read: {error!r}.") from error
        provider = self._provider()
        if provider.name != "offline" and not self._gateway.allows_model(model):
            raise Refused(403, "permission_error", f"The model {model} is not among allowed_models.", "service_error")
        if provider.name == "anthropic" and (sentence := await self._gateway.over_limit()):
            raise Refused(400, "invalid_request_error", sentence, "billing_error")
        if provider.model:
            raw = json.dumps({**body, "model": provider.model}).encode()
        passed = {name.decode(): value.decode() for name, value in headers.items() if name in _REQUEST_HEADERS}
        url = f"{provider.base_url.rstrip('/')}{path}"
        if scope["query_string"]:
            url += f"?{scope['query_string'].decode()}"
        return await self._stream(line, provider, url, raw, passed, body, send)

    def _provider(self) -> Provider:
        try:
            return self._gateway.provider
        except ParachuteError as error:
            raise Refused(400, "invalid_request_error", str(error), "service_error") from error

    async def _stream(
        self,
        line: Line,
        provider: Provider,
        url: str,
        raw: bytes,
        headers: dict[str, str],
        body: Mapping[str, Any],
        send: Send,
    ) -> int:
        import httpx2

        streaming = body.get("stream") is True
        reader = UsageReader(streaming)
        client = await self._client(provider)
        credential = self._credential(provider)
        for attempt in (1, 2):
            try:
                async with client.stream(
                    "POST", url, content=raw, headers={**headers, **account.headers(credential)}
                ) as response:
                    if response.status_code == 401 and attempt == 1 and provider.name == "anthropic":
                        # `claude login` or the user may have renewed it since.
                        renewed = self._credential(provider)
                        if renewed != credential:
                            credential = renewed
                            continue
                    if response.status_code >= 400:
                        line.problem = await _problem(response, credential)
                    kept = [(name, response.headers[name]) for name in _RESPONSE_HEADERS if name in response.headers]
                    await send(
                        {
                            "type": "http.response.start",
                            "status": response.status_code,
                            "headers": [(name.encode(), value.encode()) for name, value in kept],
                        }
                    )
                    async for part in _parts(response):
                        reader.feed(part)
                        await send({"type": "http.response.body", "body": part, "more_body": True})
                    await send({"type": "http.response.body", "body": b""})
                    if response.status_code == 200:
                        line.problem = None
                    return int(response.status_code)
            except httpx2.TransportError as error:
                message = (
                    f"The model's service at {provider.base_url} does not answer: {error or type(error).__name__}."
                )
                if reader.usage.input_tokens or reader.usage.output_tokens:
                    # Half an answer is on its way: ending the connection early is how HTTP says so.
                    line.problem = Problem("network_error", message, 502)
                    raise
                raise Refused(502, "api_error", message, "network_error") from error
            finally:
                reader.finish()
                if reader.usage.input_tokens or reader.usage.output_tokens:
                    await self._gateway.account(line.session, str(body["model"]), reader.usage, provider)
        raise AssertionError("unreachable")

    async def _client(self, provider: Provider) -> Any:
        try:
            return await self._gateway.client(provider)
        except ParachuteError as error:
            raise Refused(503, "api_error", str(error), "service_unavailable") from error

    def _credential(self, provider: Provider) -> Credential | None:
        if provider.name == "offline":
            return None
        credential = self._gateway.credentials.find()
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


async def _parts(response: Any) -> AsyncIterator[bytes]:
    if response.is_stream_consumed:
        yield response.content
        return
    async for part in response.aiter_bytes():
        yield part


async def _problem(response: Any, credential: Credential | None) -> Problem:
    await response.aread()
    message = response.text[:1000]
    kind = ""
    try:
        error = response.json()["error"]
        message, kind = str(error["message"]), str(error["type"])
    except (ValueError, KeyError, TypeError):
        pass  # not an answer of the Messages API: its text has to do
    code = _CODES.get(response.status_code, "service_error")
    if response.status_code == 401 and credential is not None and ("expired" in message.lower() or credential.expired):
        code = "expired_token"
    elif kind == "overloaded_error":
        code = "service_unavailable"
    elif response.status_code in (400, 413) and ("prompt is too long" in message or "exceed context" in message):
        code = "context_exceeded"
    elif "credit balance" in message:
        code = "billing_error"
    retry = response.headers.get("retry-after", "")
    return Problem(code, message, response.status_code, float(retry) if retry.replace(".", "", 1).isdigit() else None)


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


async def _answer(send: Send, status: int, kind: str, message: str) -> None:
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
