"""MCP clients that sign in by OAuth: the one of the protocol's own library, and a bare one, which can be wrong. The owner answers in a browser."""

import base64
import contextlib
import hashlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.support.browser import Browser
from tests.support.installation import PLAIN, Installation

RETURN = "http://127.0.0.1:8765/back"
FORM = {"content-type": "application/x-www-form-urlencoded"}


def limits(**fields: Any) -> dict[str, Any]:
    """Everything of all times for a day, but what is said."""
    everything = ["*"]
    last = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    return {
        "tools": ["brain-search", "daily-search"],
        "folders": everything,
        "kinds": everything,
        "workspaces": everything,
        "since": None,
        "until": None,
        "ends_on": last,
        "bytes_a_day": 1_000_000,
        **fields,
    }


class Kept(TokenStorage):
    """Memory of the library's client."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens that came last."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The answer of the server at registration."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep that."""
        self.client = client_info


class OwnersBrowser:
    """The owner's browser, signed in with all rights: it opens what a client asks for, and answers."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def open(self, address: str) -> str:
        """Open the address of a client, as from a page elsewhere; the request that the console is to show."""
        parts = urlsplit(address)
        answer = self.browser.ask(
            "GET", f"{parts.path}?{parts.query}", sec_fetch_site="cross-site", sec_fetch_mode="navigate", cookie=""
        )
        assert answer.status_code == 302, answer.text
        place = answer.headers["location"]
        assert place.startswith(f"{self.browser.computer.url}/#/clients/consent/"), place
        return str(place.rpartition("/")[2])

    def agree(self, request: str, **fields: Any) -> str:
        """Agree; the address to which the browser goes back."""
        answer = self.browser.ask("POST", f"/api/mcp-clients/requests/{request}/agree", limits(**fields))
        assert answer.status_code == 200, answer.text
        return str(answer.json()["address"])

    def clients(self) -> list[dict[str, Any]]:
        """The clients that are in."""
        found: list[dict[str, Any]] = self.browser.get("/api/mcp-clients").json()["clients"]
        return found


@contextlib.asynccontextmanager
async def signed_in(owner: OwnersBrowser, kept: Kept, name: str = "Library", **fields: Any) -> AsyncIterator[Client]:
    """The library's client, which signs in by itself when it is refused."""
    computer, returned = owner.browser.computer, ""

    async def go(address: str) -> None:
        nonlocal returned
        returned = owner.agree(owner.open(address), **fields)

    async def come_back() -> AuthorizationCodeResult:
        assert returned.startswith(RETURN)
        said = {name: values[0] for name, values in parse_qs(urlsplit(returned).query).items()}
        return AuthorizationCodeResult(code=said["code"], state=said["state"], iss=said["iss"])

    metadata = OAuthClientMetadata(client_name=name, redirect_uris=[AnyUrl(RETURN)])
    provider = OAuthClientProvider(f"{computer.url}/mcp", metadata, kept, go, come_back)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=60, **PLAIN) as http,
        Client(streamable_http_client(f"{computer.url}/mcp", http_client=http)) as session,
    ):
        yield session


class BareClient:
    """A client that sends what a test says."""

    def __init__(self, computer: Installation) -> None:
        self.computer = computer
        self.verifier = secrets.token_urlsafe(48)
        self.id = ""

    @property
    def challenge(self) -> str:
        """The challenge of its verifier."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")

    def send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """One request."""
        return httpx2.request(method, f"{self.computer.url}{path}", timeout=60, **options, **PLAIN)

    def register(self, **fields: Any) -> httpx2.Response:
        """Register, and remember the id."""
        answer = self.send("POST", "/oauth/register", json={"client_name": "Bare", "redirect_uris": [RETURN], **fields})
        if answer.status_code == 201:
            self.id = answer.json()["client_id"]
        return answer

    def asking(self, **fields: str | None) -> str:
        """The address at which its browser begins; None leaves a field out."""
        said: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.id,
            "redirect_uri": RETURN,
            "code_challenge": self.challenge,
            "code_challenge_method": "S256",
            "state": "state",
            "resource": f"{self.computer.url}/mcp",
            **fields,
        }
        return f"/oauth/authorize?{urlencode({name: value for name, value in said.items() if value is not None})}"

    def token(self, **fields: str) -> httpx2.Response:
        """Ask for tokens."""
        said = {"client_id": self.id, "resource": f"{self.computer.url}/mcp", **fields}
        return self.send("POST", "/oauth/token", content=urlencode(said), headers=FORM)

    def redeem(self, code: str, **fields: str) -> httpx2.Response:
        """Ask for tokens with a code."""
        said = {"grant_type": "authorization_code", "code": code, "redirect_uri": RETURN}
        return self.token(**{**said, "code_verifier": self.verifier, **fields})

    def renew(self, refresh: str, **fields: str) -> httpx2.Response:
        """Ask for new tokens."""
        return self.token(grant_type="refresh_token", refresh_token=refresh, **fields)

    def code(self, owner: OwnersBrowser, **fields: Any) -> str:
        """Register where it has not, ask, and have the owner agree; the code."""
        if not self.id:
            assert self.register().status_code == 201
        returned = owner.agree(owner.open(self.asking()), **fields)
        return parse_qs(urlsplit(returned).query)["code"][0]

    def enter(self, owner: OwnersBrowser, **fields: Any) -> dict[str, Any]:
        """The same, with tokens."""
        answer = self.redeem(self.code(owner, **fields))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def message(self, token: str, method: str, **params: Any) -> httpx2.Response:
        """One message to `/mcp`."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.send("POST", "/mcp", json=body, headers={"authorization": f"Bearer {token}"})

    def call(self, token: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; its result, or the error."""
        answer = self.message(token, "tools/call", name=tool, arguments=arguments)
        assert answer.status_code == 200, answer.text
        said = answer.json()
        found: dict[str, Any] = said.get("result") or said["error"]
        return found


async def call_mcp_clients(installation: Installation, call: Callable[..., Awaitable[Any]]) -> None:
    """Let a client in, look at it, and end it; refuse another one."""
    bare = BareClient(installation)
    assert bare.register().status_code == 201
    wanted = limits(tools=[(await call("GET /api/mcp-clients/options"))["tools"][0]["name"]])

    def ask() -> str:
        return str(bare.send("GET", bare.asking()).headers["location"].rpartition("/")[2])

    await call("POST /api/mcp-clients/requests/{request}/refuse", request=ask())
    request = ask()
    await call("GET /api/mcp-clients/requests/{request}", request=request)
    address = (await call("POST /api/mcp-clients/requests/{request}/agree", wanted, request=request))["address"]
    assert bare.redeem(parse_qs(urlsplit(address).query)["code"][0]).status_code == 200
    client = (await call("GET /api/mcp-clients"))["clients"][0]["id"]
    await call("GET /api/mcp-clients/{client}", client=client)
    await call("GET /api/mcp-clients/{client}/requests", client=client)
    await call("PUT /api/mcp-clients/{client}/limits", wanted, client=client)
    await call("DELETE /api/mcp-clients/{client}", client=client)
