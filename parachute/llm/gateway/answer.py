"""The provider's answer: its credential in the headers that ask for it, its parts, and its errors."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from parachute.base.clock import Clock
from parachute.llm.gateway import account, window
from parachute.llm.gateway.models import Credential, CredentialKind, Problem

_RETRY_LIMIT = 86_400.0

_CODES = {
    400: "service_error",
    401: "invalid_credentials",
    402: "billing_error",
    403: "invalid_credentials",
    429: "rate_limited",
    503: "service_unavailable",
    529: "service_unavailable",
}


def with_credential(headers: dict[str, str], credential: Credential | None) -> dict[str, str]:
    """The agent's headers with the credential, and the mark of its kind: it may have changed since the agent started."""
    beta = [name for name in headers.get("anthropic-beta", "").split(",") if name and name != account.OAUTH_MARK]
    if credential is not None and credential.kind is CredentialKind.OAUTH:
        beta.append(account.OAUTH_MARK)
    passed = {name: value for name, value in headers.items() if name != "anthropic-beta"}
    if beta:
        passed["anthropic-beta"] = ",".join(beta)
    return {**passed, **account.headers(credential)}


async def parts_of(response: Any, credential: Credential | None) -> AsyncIterator[bytes]:
    """Stream the body of an answer; one that was read as a whole comes in one part."""
    if response.is_stream_consumed:
        # Of errors, which some servers answer with a copy of the request: the credential stays out of the sandbox.
        yield response.content.replace(credential.secret.encode(), b"***") if credential else response.content
        return
    async for part in response.aiter_bytes():
        yield part


async def problem_of(response: Any, credential: Credential | None, clock: Clock) -> Problem:
    """The reason why a provider refused a request."""
    await response.aread()
    message = response.text[:1000]
    kind, key, error = "", "", None
    try:
        error = response.json()["error"]
        message, kind = str(error["message"])[:1000], str(error["type"])
    except (ValueError, KeyError, TypeError):
        pass  # not an answer of the Messages API: its text has to do
    if credential is not None:
        message = message.replace(credential.secret, "***")
    code = _CODES.get(response.status_code, "service_error")
    has_expired = credential is not None and ("expired" in message.lower() or credential.is_expired(clock))
    if response.status_code == 401 and has_expired:
        code = "expired_token"
    elif kind == "overloaded_error" or (response.status_code >= 500 and "overloaded_error" in message):
        # LiteLLM makes a 500 of it, and quotes the service.
        code = "service_unavailable"
    elif response.status_code in (400, 413) and window.is_exceeded(kind, message):
        code = "context_exceeded"
        size = window.size_in(error, message)
        if size is not None and (found := window.problem_of(size)):
            message, key = " ".join(found), window.TOO_SMALL
    elif "credit balance" in message:
        code = "billing_error"
    retry: float | None = None
    with contextlib.suppress(ValueError):  # it may also be a date
        retry = min(max(float(response.headers.get("retry-after", "")), 0.0), _RETRY_LIMIT)
    return Problem(code, message, response.status_code, retry, key)
