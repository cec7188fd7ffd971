"""The endpoint that gives tokens: one for a code, and another for a token that ends. Imports the library of MCP: import it in functions."""

import base64
import json
from typing import Any
from urllib.parse import quote

import httpx2
from mcp.shared.auth import OAuthToken
from msgspec.structs import replace

from parachute.capabilities.mcp_servers.logins.errors import LoginFailed
from parachute.capabilities.mcp_servers.logins.models import Login, Pending, Registration
from parachute.capabilities.mcp_servers.logins.requests import Requests

_LONGEST = 16 * 1024
_LIFE = 366 * 24 * 3600
_OVER = frozenset(("invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope", "invalid_target"))
"""Errors after which the same token is never taken again (RFC 6749, 5.2; RFC 8707, 2)."""


async def exchanged(requests: Requests, pending: Pending, code: str, now: float) -> Login:
    """Get the login for a code, at `now` in epoch seconds; errors: LoginFailed, Unavailable."""
    fields = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": pending.registration.redirect,
        "code_verifier": pending.verifier,
        "resource": pending.resource,
    }
    answer = await _ask(requests, pending.registration, fields)
    server = pending.runnable.server
    login = Login(server.name, server.url, pending.registration, pending.scope, audience=pending.resource)
    return _taken(login, answer, pending.registration, now)


async def refreshed(requests: Requests, login: Login, now: float) -> Login | None:
    """Get the login that follows, None if the owner has to sign in again; errors: LoginFailed, Unavailable."""
    registration = login.registration
    if registration is None or login.refresh is None:
        return None
    fields = {"grant_type": "refresh_token", "refresh_token": login.refresh, "resource": login.audience or login.url}
    answer = await _ask(requests, registration, fields)
    if answer.status_code in (400, 401, 403) and _error(answer) in _OVER:
        return None
    return _taken(login, answer, registration, now)


async def _ask(requests: Requests, client: Registration, fields: dict[str, str]) -> httpx2.Response:
    headers = {}
    sent = {**fields, "client_id": client.client_id}
    if client.method == "client_secret_basic" and client.client_secret:
        pair = f"{quote(client.client_id, safe='')}:{quote(client.client_secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif client.client_secret:
        sent["client_secret"] = client.client_secret
    request = httpx2.Request("POST", client.token_endpoint, data=sent, headers=headers)
    return await requests.ask(request, "its tokens")


def _taken(login: Login, answer: httpx2.Response, client: Registration, now: float) -> Login:
    """The login with what an answer gives; error: LoginFailed if that is none."""
    if answer.status_code not in (200, 201):
        said = f" ({_error(answer)})" if _error(answer) in _OVER else ""
        raise LoginFailed(
            f"{client.issuer} refused a token: it answered {answer.status_code}{said}.", key="token_refused"
        )
    try:
        found = OAuthToken.model_validate_json(answer.content)
    except ValueError as error:
        raise LoginFailed(f"{client.issuer} answered without a token.", key="no_token_given") from error
    for token in (found.access_token, found.refresh_token or "x"):
        if not 0 < len(token) <= _LONGEST or not token.isascii() or not token.isprintable() or " " in token:
            raise LoginFailed(f"The answer of {client.issuer} is not a token.", key="not_a_token")
    lives = float(found.expires_in) if found.expires_in is not None and 0 <= found.expires_in < _LIFE else None
    return replace(
        login,
        registration=client,
        scope=found.scope or login.scope,
        access=found.access_token,
        refresh=found.refresh_token or login.refresh,
        ends=now + lives if lives is not None else None,
        lives=lives,
    )


def _error(answer: httpx2.Response) -> str:
    try:
        document: Any = json.loads(answer.content)
        return str(document.get("error")) if isinstance(document, dict) else ""
    except (ValueError, RecursionError):
        return ""
