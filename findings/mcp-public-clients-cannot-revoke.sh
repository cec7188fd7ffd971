#!/usr/bin/env bash
# mcp 2.3.0 with Python 3.11.
# Expected: the revocation endpoint (RFC 7009) of the authorization server takes a token from a public client, one that registered
# with the authentication method "none": such a client sends the token and its client_id.
# Seen: the form has to have a field client_secret, for which nothing but its presence counts:
#   token, client_id: 400 invalid_request, client_secret: Field required
#   token, client_id, client_secret that is empty: 200
# 2026-11-30
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/environment"
"$folder/environment/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0 httpx2==2.16.2
cat >"$folder/program.py" <<'PY'
import asyncio

import httpx2
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

CLIENT = OAuthClientInformationFull(
    client_id="notes", redirect_uris=["http://localhost/back"], token_endpoint_auth_method="none"
)


class Provider:
    async def get_client(self, client_id: str) -> OAuthClientInformationFull:
        return CLIENT

    async def load_access_token(self, token: str) -> None:
        return None

    async def load_refresh_token(self, client: OAuthClientInformationFull, token: str) -> None:
        return None


async def main() -> None:
    routes = create_auth_routes(
        Provider(), AnyHttpUrl("http://localhost"), revocation_options=RevocationOptions(enabled=True)
    )
    transport = httpx2.ASGITransport(app=Starlette(routes=routes))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
        form = {"token": "t", "client_id": "notes"}
        plain = await http.post("/revoke", data=form)
        said = plain.json()
        print(f"token, client_id: {plain.status_code} {said['error']}, {said['error_description']}")
        padded = await http.post("/revoke", data={**form, "client_secret": ""})
        print(f"token, client_id, client_secret that is empty: {padded.status_code}")
    assert (plain.status_code, padded.status_code) == (400, 200)


asyncio.run(main())
PY
"$folder/environment/bin/python" "$folder/program.py"
