"""Signing in by the client of the protocol's own library, from the refusal to the end of the grant."""

import pytest

from tests.support.mcp_client import BareClient, Kept, OwnersBrowser, signed_in
from tests.support.server import Server

pytestmark = pytest.mark.process


async def test_the_librarys_client_signs_in_asks_and_is_ended(server: Server, owner: OwnersBrowser) -> None:
    kept = Kept()
    async with signed_in(owner, kept, "Diary reader", tools=["daily-search"]) as session:
        assert {tool.name for tool in (await session.list_tools()).tools} == {"daily-search"}
        found = await session.call_tool("daily-search", {"query": "nothing"})
        assert found.is_error is False
        (client,) = [each for each in owner.clients() if each["name"] == "Diary reader"]
        assert client["returns_to"] == "127.0.0.1:8765"
        shown = owner.browser.get(f"/api/mcp-clients/{client['id']}").json()
        assert shown["total"]["answers"] == 1
        assert shown["last_request"] is not None
        ended = owner.browser.ask("DELETE", f"/api/mcp-clients/{client['id']}")
        assert ended.status_code == 200
        assert kept.tokens is not None
        assert BareClient(server).message(kept.tokens.access_token, "ping").status_code == 401
    stored = (server.home.root / "mcp-clients.json").read_text()
    assert kept.tokens.access_token not in stored
    assert client["id"] not in stored


async def test_tokens_are_renewed_without_the_owner(server: Server, owner: OwnersBrowser) -> None:
    kept = Kept()
    async with signed_in(owner, kept, "Renewed"):
        assert kept.tokens is not None
        before = kept.tokens
    bare = BareClient(server)
    assert kept.client is not None
    bare.id = kept.client.client_id
    assert before.refresh_token is not None
    after = bare.renew(before.refresh_token)
    assert after.status_code == 200, after.text
    assert bare.message(before.access_token, "ping").status_code == 401
    assert bare.message(after.json()["access_token"], "ping").status_code == 200


async def test_a_refusal_is_told(server: Server, owner: OwnersBrowser) -> None:
    bare = BareClient(server)
    bare.register()
    request = owner.open(bare.asking())
    answer = owner.browser.ask("POST", f"/api/mcp-clients/requests/{request}/refuse")
    assert answer.json()["address"].endswith(
        f"error=access_denied&state=state&iss={server.url}".replace("://", "%3A%2F%2F").replace(":", "%3A")
    )
    assert owner.browser.get(f"/api/mcp-clients/requests/{request}").status_code == 404


def test_whoever_shows_nothing_is_told_where_to_sign_in(server: Server) -> None:
    bare = BareClient(server)
    answer = bare.send("POST", "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert answer.status_code == 401
    place = f"{server.url}/.well-known/oauth-protected-resource/mcp"
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{place}"'
    metadata = bare.send("GET", "/.well-known/oauth-protected-resource/mcp").json()
    assert metadata["resource"] == f"{server.url}/mcp"
    assert metadata["authorization_servers"] == [server.url]
    described = bare.send("GET", "/.well-known/oauth-authorization-server").json()
    assert described["issuer"] == server.url
    assert described["code_challenge_methods_supported"] == ["S256"]


async def test_a_token_is_no_key(server: Server, owner: OwnersBrowser) -> None:
    bare = BareClient(server)
    token = bare.enter(owner)["access_token"]
    for path in ("/api/chat", "/api/daily/entries", "/api/mcp-clients", "/api/auth/keys", "/api/events", "/api/ls"):
        answer = bare.send("GET", path, headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 403, (path, answer.text)
    # Where everybody is let in, it is nobody.
    me = bare.send("GET", "/api/pairing/me", headers={"authorization": f"Bearer {token}"}).json()
    assert (me["kind"], me["id"], me["scopes"]) == (None, None, [])
