"""Clients that want more than they were given, and those who found a code or a token."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.mcp_client import RETURN, BareClient, OwnersBrowser
from tests.support.server import Server

pytestmark = pytest.mark.process


def test_a_token_of_another_address_opens_nothing(server: Server, owner: OwnersBrowser) -> None:
    bare = BareClient(server)
    tokens = bare.enter(owner)
    headers = {"authorization": f"Bearer {tokens['access_token']}", "host": f"localhost:{server.port}"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = bare.send("POST", "/mcp", json=body, headers=headers)
    assert (answer.status_code, answer.json()["key"]) == (401, "wrong_token")
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("resource", ["https://elsewhere.example/mcp", "http://127.0.0.1/mcp", ""])
def test_tokens_are_for_this_computer_alone(server: Server, owner: OwnersBrowser, resource: str) -> None:
    bare = BareClient(server)
    bare.register()
    refused = owner.browser.ask("GET", bare.asking(resource=resource))
    assert parse_qs(urlsplit(refused.headers["location"]).query)["error"] == ["invalid_target"]
    code = bare.code(owner)
    assert bare.redeem(code, resource=resource).json()["error"] == "invalid_target"


def test_a_code_is_used_once_and_a_copy_of_it_ends_what_came_of_it(server: Server, owner: OwnersBrowser) -> None:
    bare = BareClient(server)
    code = bare.code(owner)
    tokens = bare.redeem(code).json()
    assert bare.message(tokens["access_token"], "ping").status_code == 200
    again = bare.redeem(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert bare.message(tokens["access_token"], "ping").status_code == 401
    assert bare.renew(tokens["refresh_token"]).status_code == 400


def test_a_code_is_nothing_without_its_verifier_and_gone_after_the_first_try(
    server: Server, owner: OwnersBrowser
) -> None:
    bare = BareClient(server)
    code = bare.code(owner)
    for verifier in ("x" * 43, bare.verifier):
        assert bare.redeem(code, code_verifier=verifier).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    "fields",
    [
        {"code_challenge": None},
        {"code_challenge": ""},
        {"code_challenge_method": "plain"},
        {"code_challenge": "short", "code_challenge_method": None},
        {"response_type": "token"},
        {"state": "s" * 3000},
    ],
)
def test_nothing_is_asked_without_pkce(server: Server, owner: OwnersBrowser, fields: dict[str, str | None]) -> None:
    bare = BareClient(server)
    bare.register()
    answer = owner.browser.ask("GET", bare.asking(**fields))
    place = urlsplit(answer.headers["location"])
    assert answer.headers["location"].startswith(RETURN)
    said = parse_qs(place.query)
    assert said["error"][0] in ("invalid_request", "unsupported_response_type")
    assert said["iss"] == [server.url]


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8766/back",
        "http://127.0.0.1:8765/back/more",
        "http://127.0.0.1:8765/back?x=1",
        "http://127.0.0.1:8765/back/../other",
        "http://localhost:8765/back",
        "https://evil.example/back",
    ],
)
def test_no_browser_is_sent_to_an_address_that_was_not_registered(
    server: Server, owner: OwnersBrowser, address: str
) -> None:
    bare = BareClient(server)
    bare.register()
    answer = owner.browser.ask("GET", bare.asking(redirect_uri=address))
    assert answer.status_code == 400
    assert "location" not in answer.headers
    code = bare.code(owner)
    assert bare.redeem(code, redirect_uri=address).status_code == 400


@pytest.mark.parametrize(
    "address",
    [
        "http://evil.example/back",
        "http://127.0.0.1.evil.example/back",
        "javascript:alert(1)",
        "cursor://anything",
        "https://evil.example/back#part",
        "https://user@evil.example/back",
        "https://",
        "https://a.example/" + "x" * 600,
    ],
)
def test_no_such_address_is_registered(server: Server, address: str) -> None:
    answer = BareClient(server).register(redirect_uris=[address])
    assert answer.status_code == 400, answer.text


def test_registration_is_bounded(server: Server) -> None:
    bare = BareClient(server)
    assert bare.register(redirect_uris=[f"https://a.example/{number}" for number in range(11)]).status_code == 400
    assert bare.register(client_name="x" * 20_000).status_code == 413
    assert bare.register(client_name="Chat\u202egpt\u200b\n  <b>").json()["client_name"] == "Chatgpt <b>"
    first = bare.id
    for _ in range(100):
        assert bare.register().status_code == 201
    bare.id = first
    assert bare.send("GET", bare.asking()).status_code == 400
    assert (
        not (server.home.root / "mcp-clients.json").exists()
        or first not in (server.home.root / "mcp-clients.json").read_text()
    )


def test_a_refresh_token_that_was_used_ends_the_whole_grant(server: Server, owner: OwnersBrowser) -> None:
    bare = BareClient(server)
    first = bare.enter(owner)
    second = bare.renew(first["refresh_token"]).json()
    assert bare.message(second["access_token"], "ping").status_code == 200
    assert bare.renew(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert bare.message(second["access_token"], "ping").status_code == 401
    assert bare.renew(second["refresh_token"]).json()["error"] == "invalid_grant"


def test_tokens_of_others_are_neither_renewed_nor_revoked(server: Server, owner: OwnersBrowser) -> None:
    bare, other = BareClient(server), BareClient(server)
    tokens = bare.enter(owner)
    other.register()
    assert other.renew(tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert revoked(other, tokens["access_token"]) == 200
    assert bare.message(tokens["access_token"], "ping").status_code == 200


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
def test_a_token_that_is_given_back_ends_the_grant(server: Server, owner: OwnersBrowser, name: str) -> None:
    bare = BareClient(server)
    tokens = bare.enter(owner)
    assert revoked(bare, tokens[name]) == 200
    assert bare.message(tokens["access_token"], "ping").status_code == 401
    assert bare.renew(tokens["refresh_token"]).status_code == 400
    assert revoked(bare, tokens[name]) == 200


def test_only_the_owner_agrees(server: Server, owner: OwnersBrowser) -> None:
    from tests.support.mcp_client import limits

    bare = BareClient(server)
    token = bare.enter(owner)["access_token"]
    path = f"/api/mcp-clients/requests/{owner.open(bare.asking())}/agree"
    # A program of this machine without a key, a client, a page elsewhere, and a page of ours in nobody's browser.
    assert bare.send("POST", path, json=limits()).status_code == 403
    assert bare.send("POST", path, json=limits(), headers={"authorization": f"Bearer {token}"}).status_code == 403
    assert owner.browser.ask("POST", path, limits(), origin="https://evil.example").status_code == 403
    assert owner.browser.ask("POST", path, limits(), cookie="").status_code == 403
    assert owner.browser.ask("POST", path, limits(tools=[])).status_code == 422
    assert owner.browser.ask("POST", path, limits()).status_code == 200
    assert owner.browser.ask("POST", path, limits()).status_code == 404


def test_fields_that_come_twice_are_refused(server: Server, owner: OwnersBrowser) -> None:
    bare = BareClient(server)
    code = bare.code(owner)
    body = f"grant_type=authorization_code&code={code}&code=x&client_id={bare.id}"
    answer = bare.send(
        "POST", "/oauth/token", content=body, headers={"content-type": "application/x-www-form-urlencoded"}
    )
    assert (answer.status_code, answer.json()["key"]) == (400, "repeated_field")


def revoked(bare: BareClient, token: str) -> int:
    """Give a token back; the status."""
    body = f"token={token}&client_id={bare.id}"
    headers = {"content-type": "application/x-www-form-urlencoded"}
    return bare.send("POST", "/oauth/revoke", content=body, headers=headers).status_code
