"""A server elsewhere, written with MCP's own library, in a process of its own: `python -m` this, with its options as JSON.

`oauth`: it signs people in, and its tokens live `lives` seconds. `header`: name and value that every request must have. `tls`: the
file with its key and certificate. `kind`: http or sse. `/control/…` is for the test alone.
"""

import asyncio
import json
import secrets
import socket
import sys
import time
from http import HTTPStatus
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.shared.auth import OAuthToken
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Provider:
    """Signs everybody in at once; a refresh token is good for once."""

    def __init__(self, lives: int) -> None:
        self.lives = lives
        self.clients: dict[str, Any] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.refreshes = 0

    async def get_client(self, client_id: str) -> Any:
        return self.clients.get(client_id)

    async def register_client(self, client_info: Any) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: Any, params: Any) -> str:
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client: Any, authorization_code: str) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client: Any, authorization_code: AuthorizationCode) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._given(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: Any, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client: Any, refresh_token: RefreshToken, scopes: list[str]) -> OAuthToken:
        del self.refresh[refresh_token.token]
        self.refreshes += 1
        return self._given(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: Any) -> None:
        raise NotImplementedError

    def _given(self, client: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_urlsafe(16)}", f"refresh-{secrets.token_urlsafe(16)}"
        ends = int(time.time()) + self.lives
        self.access[access] = AccessToken(
            token=access, client_id=client, scopes=scopes, resource=resource, expires_at=ends
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client, scopes=scopes, resource=resource)
        return OAuthToken(
            access_token=access, refresh_token=refresh, expires_in=self.lives, scope=" ".join(scopes) or None
        )


class Door:
    """Notes what comes, lets in what has the header that it must have, and holds back a refusal if the test wants it."""

    def __init__(self, app: ASGIApp, seen: list[dict[str, str]], header: tuple[str, str] | None) -> None:
        self._app = app
        self._seen = seen
        self._header = header
        self.is_to_hold = False
        """True if the next refusal is held back until `goes_on`; `held` is set then."""
        self.held = asyncio.Event()
        self.goes_on = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith("/control"):
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            self._seen.append({"path": scope["path"], "method": scope["method"], **headers})
            if self._header is not None and headers.get(self._header[0].lower()) != self._header[1]:
                await Response("Who are you?", 401)(scope, receive, send)
                return

        async def held_back(message: Message) -> None:
            if (
                self.is_to_hold
                and message["type"] == "http.response.start"
                and message["status"] == HTTPStatus.UNAUTHORIZED
            ):
                self.is_to_hold = False
                self.held.set()
                await self.goes_on.wait()
            await send(message)

        await self._app(scope, receive, held_back)


def main() -> None:
    """Serve until the process is ended; the first line of the output is the address."""
    options = json.loads(sys.argv[1])
    listener = socket.create_server(("127.0.0.1", options.get("port", 0)))
    scheme = "https" if "tls" in options else "http"
    origin = f"{scheme}://{options.get('host', '127.0.0.1')}:{listener.getsockname()[1]}"
    path = "/sse" if options.get("kind") == "sse" else "/mcp"
    provider = Provider(options.get("lives", 3600))
    auth: dict[str, Any] = {}
    if options.get("oauth"):
        scopes = ["notes"]
        registration = ClientRegistrationOptions(enabled=True, valid_scopes=scopes, default_scopes=scopes)
        auth["auth"] = AuthSettings(
            issuer_url=AnyHttpUrl(origin),
            resource_server_url=AnyHttpUrl(f"{origin}{path}"),
            required_scopes=scopes,
            client_registration_options=registration,
            validate_token_resource=True,
        )
        auth["auth_server_provider"] = provider
    server = MCPServer("notes", **auth)

    @server.tool()
    def act(text: str = "nothing") -> str:
        """Write a note."""
        return f"Noted: {text}"

    @server.tool()
    def echo(headers: str) -> str:
        """Say what came in a header."""
        return json.dumps([each.get(headers) for each in seen][-1])

    seen: list[dict[str, str]] = []

    @server.custom_route("/control/{what}", methods=["GET"])
    async def control(request: Request) -> Response:
        what = request.path_params["what"]
        if what == "expire":
            provider.access.clear()
        elif what == "revoke":
            provider.access.clear()
            provider.refresh.clear()
        elif what == "hold":
            door.is_to_hold = True
        elif what == "held":
            await door.held.wait()
        elif what == "release":
            door.goes_on.set()
        tokens = [*provider.access, *provider.refresh]
        counts = {"refreshes": provider.refreshes, "clients": len(provider.clients), "tokens": tokens}
        return JSONResponse({"seen": seen, **counts})

    app: ASGIApp = server.sse_app() if options.get("kind") == "sse" else server.streamable_http_app()
    door = Door(app, seen, tuple(options["header"]) if "header" in options else None)
    sys.stdout.write(f"{origin}{path}\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        door,
        log_level="error",
        ssl_certfile=options.get("tls"),
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
