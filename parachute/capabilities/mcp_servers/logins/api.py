"""Routes for signing in to MCP servers elsewhere, and the page at which a browser arrives afterwards."""

import html
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer
from parachute.base.errors import Conflict, ParachuteError
from parachute.base.services import provided
from parachute.capabilities.mcp_servers.logins.models import callback_address
from parachute.capabilities.mcp_servers.logins.service import Callback
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.config.settings.models import Settings

router = APIRouter(prefix="/api/mcps", tags=["mcps"])

_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>body {{ font: 1.1rem/1.5 system-ui; margin: 20vh auto; max-width: 32rem; padding: 0 1rem }}</style></head>
<body><h1>{title}</h1><p>{text}</p></body></html>
"""

ServersDependency = Annotated[McpServers, Depends(provided(McpServers))]
SettingsDependency = Annotated[Settings, Depends(provided(Settings))]


class Beginning(BaseModel):
    """Way to sign in; `paste`: the browser is on another machine, and its last address is brought by hand."""

    model_config = ConfigDict(extra="forbid")

    hosts: list[Annotated[str, Field(max_length=300)]] = Field(default=[], max_length=10)
    paste: bool = False
    client_id: str | None = Field(default=None, min_length=1, max_length=2000, pattern="^[!-~]+$")
    client_secret: str | None = Field(default=None, min_length=1, max_length=2000, pattern="^[!-~]+$")


class End(BaseModel):
    """The address at which the browser ended."""

    model_config = ConfigDict(extra="forbid")

    answer: str = Field(max_length=20_000)


class LoginLink(Answer, frozen=True):
    """The `link` for a browser, the server at which it signs in, and the address to which it comes back."""

    link: str
    signs_in_at: str
    comes_back_to: str


class SignedIn(Answer, frozen=True):
    """The server that is signed in to."""

    server: str
    success: bool = True


class SignedOut(Answer, frozen=True):
    """The tokens of a server are forgotten, if there were any."""

    was_signed_in: bool
    success: bool = True


@router.post("/{name}/login")
async def begin(
    name: str, request: Request, service: ServersDependency, settings: SettingsDependency, body: Beginning | None = None
) -> LoginLink:
    """Begin to sign in to a server elsewhere: `link` is for a browser, which comes back to this computer at the address called."""
    wanted = body or Beginning()
    if wanted.client_secret is not None and wanted.client_id is None:
        raise Conflict("client_secret: it belongs to a client_id.", key="client_id_missing")
    base = callback_address(settings.port) if wanted.paste else callback_address(settings.port, str(request.base_url))
    client = (wanted.client_id, wanted.client_secret) if wanted.client_id is not None else None
    pending = await service.begin_login(name, base, wanted.hosts, client)
    return LoginLink(pending.link, pending.registration.issuer, base)


@router.post("/{name}/login/answer")
async def answer(name: str, service: ServersDependency, body: End) -> SignedIn:
    """Finish signing in with the browser's last address, where the browser could not return it."""
    callback = Callback.parse(body.answer)
    return SignedIn(await service.remote.logins.finish(callback, name))


@router.delete("/{name}/login")
async def logout(name: str, service: ServersDependency) -> SignedOut:
    """Sign out: the tokens are forgotten; `was_signed_in` tells whether there were any."""
    return SignedOut(await service.logout(name))


@router.get("/oauth/callback", include_in_schema=False)
async def arrive(
    service: ServersDependency,
    state: str = "",
    code: str | None = None,
    iss: str | None = None,
    error: str | None = None,
) -> HTMLResponse:
    """The page at which a browser arrives after signing in; who has not begun so gets nothing."""
    try:
        name = await service.remote.logins.finish(Callback(state, code, iss, error))
    except ParachuteError as refusal:
        status = refusal.status if refusal.status != HTTPStatus.SERVICE_UNAVAILABLE else HTTPStatus.BAD_GATEWAY
        return _page("You are not signed in", str(refusal), status)
    return _page("You are signed in", f"Your agents can use {name} now. You can close this page.", HTTPStatus.OK)


def _page(title: str, text: str, status: int) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(title=html.escape(title), text=html.escape(text)), status, headers=_HEADERS)
