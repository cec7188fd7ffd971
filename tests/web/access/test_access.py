"""Access by keys, scopes and addresses."""

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI, Request
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from parachute.security.keys.models import Caller, Scope
from parachute.web.access.access import AccessMiddleware
from tests.support.errors import raises

from .gate import REMOTE, Gate, UntoldPeers, drive

MakeGate = Callable[..., Gate]


def forms(secret: str) -> list[dict[str, str]]:
    """The three ways in which the app sends its key."""
    encoded = base64.b64encode(secret.encode()).decode()
    return [{"X-API-Key": secret}, {"Authorization": f"Bearer {secret}"}, {"Authorization": f"Bearer {encoded}"}]


def test_other_machines_need_a_key_and_this_one_does_not(gate: MakeGate) -> None:
    made = gate()
    assert made.call(client=REMOTE).status == 401
    assert made.call(client=None).status == 401
    assert made.call(client=("testclient", 1)).status == 401
    answer = made.call("POST")
    assert (answer.status, answer.json["kind"], answer.json["admin"]) == (200, "local", False)


def test_before_the_first_key_strangers_may_do_nothing(gate: MakeGate) -> None:
    made = gate()
    for method, path in [("GET", "/api/chat"), ("GET", "/api/read"), ("POST", "/api/auth/keys"), ("GET", "/docs")]:
        answer = made.call(method, path, client=REMOTE)
        assert answer.status == 401
        assert "parachute keys create" in answer.hint
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("auth_mode", ["remote", "always", "disabled"])
def test_all_three_forms_of_a_key_are_taken(gate: MakeGate, auth_mode: str) -> None:
    made = gate(auth_mode=auth_mode)
    _, secret = made.keys.create("phone")
    for form in forms(secret):
        answer = made.call("POST", headers=form, client=REMOTE)
        assert (answer.status, answer.json["kind"], answer.json["name"]) == (200, "key", "phone"), form


@pytest.mark.parametrize("auth_mode", ["remote", "always", "disabled"])
@pytest.mark.parametrize(
    "headers",
    [
        {"X-API-Key": "para_wrong"},
        {"X-API-Key": ""},
        {"Authorization": "Bearer para_wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic cGFyYTp3cm9uZw=="},
        {"Authorization": "Bearer paracli_wrong"},
        {"X-API-Key": "\xff\xfe"},
    ],
)
def test_a_wrong_key_never_falls_back_to_anything(gate: MakeGate, auth_mode: str, headers: dict[str, str]) -> None:
    made = gate(auth_mode=auth_mode)
    made.keys.create("phone")
    for client in (("127.0.0.1", 1), REMOTE):
        assert made.call(headers=headers, client=client).status == 401
        assert made.call("GET", "/supervisor/status", headers, client=client).status == 401


def test_a_key_may_no_more_on_this_computer_than_it_may(gate: MakeGate) -> None:
    made = gate()
    narrow = made.keys.create("journal", [Scope("daily", frozenset({"read"}))])[1]
    for path, module in (("/supervisor/status", "supervisor"), ("/supervisor/models", "chat")):
        wide = made.keys.create(module, [Scope(module, frozenset({"read"}))])[1]
        assert made.call("GET", path, {"X-API-Key": narrow}).status == 403
        assert made.call("GET", path, {"X-API-Key": wide}).status == 200
        assert made.call("GET", path).status == 200, "the app shows no key here"


def test_two_keys_in_one_request_are_refused(gate: MakeGate) -> None:
    made = gate()
    _, secret = made.keys.create("phone")
    both = {"X-API-Key": secret, "Authorization": "Bearer para_wrong"}
    assert made.call(headers=both).status == 401
    assert made.call(headers=[("X-API-Key", secret), ("X-API-Key", "para_wrong")]).status == 400


def test_a_revoked_key_is_refused_at_once(gate: MakeGate) -> None:
    made = gate()
    key, secret = made.keys.create("phone")
    assert made.call(headers={"X-API-Key": secret}, client=REMOTE).status == 200
    made.keys.revoke(key.id)
    assert made.call(headers={"X-API-Key": secret}, client=REMOTE).status == 401


def test_always_means_this_computer_too(gate: MakeGate) -> None:
    made = gate(auth_mode="always")
    for method, path in [("GET", "/api/chat"), ("POST", "/api/chat"), ("POST", "/api/auth/keys"), ("GET", "/docs")]:
        assert made.call(method, path).status == 401


@pytest.mark.parametrize("auth_mode", ["", "Remote", "always ", "off", "none", "true"])
def test_an_unknown_mode_stops_the_start(gate: MakeGate, auth_mode: str) -> None:
    with raises("unknown_auth_mode"):
        gate(auth_mode=auth_mode)


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "", "192.168.1.5", "example.org"])
def test_an_address_that_others_reach_needs_a_key_first(gate: MakeGate, bind: str) -> None:
    for auth_mode in ("remote", "always"):
        with raises("key_needed"):
            gate(bind=bind, auth_mode=auth_mode)
    with raises("auth_disabled"):
        gate(bind=bind, auth_mode="disabled")


def test_with_a_key_the_server_may_be_reached_but_not_without_auth(gate: MakeGate) -> None:
    _, secret = gate().keys.create("phone")
    made = gate(bind="0.0.0.0")
    assert made.call(client=REMOTE).status == 401
    assert made.call(client=REMOTE, headers={"X-API-Key": secret}).status == 200
    with raises("auth_disabled"):
        gate(bind="0.0.0.0", auth_mode="disabled")


def test_an_unreadable_file_of_keys_stops_the_start_on_a_network(gate: MakeGate, home: Path) -> None:
    (home / "keys.yaml").write_text("api_keys:")
    with raises("keys_unreadable", names="line 1"):
        gate(bind="0.0.0.0")


@pytest.mark.parametrize("auth_mode", ["remote", "always", "disabled"])
def test_a_cut_file_of_keys_lets_nobody_in(gate: MakeGate, home: Path, auth_mode: str) -> None:
    made = gate(auth_mode=auth_mode)
    _, secret = made.keys.create("phone")
    path = home / "keys.yaml"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    for headers in ({}, *forms(secret)):
        local = made.call(headers=headers)
        assert local.status == 503
        assert f"{path}, line" in local.detail
        remote = made.call(headers=headers, client=REMOTE)
        assert remote.status == 503
        assert str(home) not in remote.detail
    assert made.call("GET", "/api/health", client=REMOTE).status == 200
    assert made.call(headers={"X-API-Key": made.cli_token.obtain()}).status == 200
    path.write_bytes(whole)
    assert made.call(headers={"X-API-Key": secret}, client=REMOTE).status == 200


@pytest.mark.parametrize("auth_mode", ["remote", "always", "disabled"])
def test_health_is_open_and_nothing_beside_it(gate: MakeGate, auth_mode: str) -> None:
    made = gate(auth_mode=auth_mode)
    answer = made.call("GET", "/api/health", client=REMOTE)
    assert (answer.status, answer.json["kind"]) == (200, "anonymous")
    assert made.call("HEAD", "/api/health", client=REMOTE).status == 200
    assert made.call("GET", "/api/health", {"X-API-Key": "para_revoked"}, client=REMOTE).json["kind"] == "anonymous"
    for method, path in [
        ("POST", "/api/health"),
        ("GET", "/api/health/"),
        ("GET", "/api/health/x"),
        ("GET", "/api/healthy"),
        ("GET", "/API/health"),
        ("GET", "//api/health"),
    ]:
        assert made.call(method, path, client=REMOTE).status == 401


def test_health_knows_a_caller_with_a_key(gate: MakeGate) -> None:
    made = gate()
    _, secret = made.keys.create("phone")
    assert made.call("GET", "/api/health", {"X-API-Key": secret}, client=REMOTE).json["name"] == "phone"


def test_the_supervisor_is_open_to_look_at_here_only(gate: MakeGate) -> None:
    made = gate(auth_mode="always")
    _, secret = made.keys.create("phone")
    _, narrow = made.keys.create("reader", [Scope.parse("supervisor:read")])
    assert made.call("GET", "/supervisor/status").status == 200
    assert made.call("GET", "/supervisor/status", client=REMOTE).status == 401
    assert made.call("GET", "/supervisor/status", {"X-Forwarded-For": "127.0.0.1"}).status == 401
    assert made.call("GET", "/supervisor/status", {"X-API-Key": narrow}, client=REMOTE).status == 200
    assert made.call("POST", "/supervisor/server/restart", {"X-API-Key": narrow}).status == 403
    assert made.call("POST", "/supervisor/server/restart", {"X-API-Key": secret}, client=REMOTE).status == 200


def test_the_supervisor_is_controlled_with_a_key_only(gate: MakeGate) -> None:
    for auth_mode in ("remote", "disabled"):
        made = gate(auth_mode=auth_mode)
        assert made.call("POST", "/supervisor/server/stop").status == 403
        token = made.cli_token.obtain()
        assert made.call("POST", "/supervisor/server/stop", {"Authorization": f"Bearer {token}"}).status == 200


def test_a_key_reaches_its_own_modules_only(gate: MakeGate) -> None:
    made = gate()
    _, secret = made.keys.create("family", [Scope.parse("daily:read"), Scope.parse("brain:read,write")])
    headers = {"X-API-Key": secret}
    allowed = [("GET", "/api/daily/entries"), ("HEAD", "/api/daily"), ("PUT", "/api/brain/entities/Person/x")]
    refused = [
        ("POST", "/api/daily/entries"),
        ("DELETE", "/api/daily"),
        ("GET", "/api/chat"),
        ("GET", "/api/read"),
        ("GET", "/api/auth/keys"),
        ("GET", "/api/dailyx"),
        ("GET", "/docs"),
        ("GET", "/api"),
        ("GET", "/api/"),
    ]
    for client in (REMOTE, ("127.0.0.1", 1)):
        assert [made.call(method, path, headers, client=client).status for method, path in allowed] == [200] * 3
        assert {made.call(method, path, headers, client=client).status for method, path in refused} == {403}
    refused_entry = made.call("POST", "/api/daily/entries", headers)
    assert "daily:read" in refused_entry.detail
    assert "--scope daily:write" in refused_entry.hint


ADMIN_ROUTES = [
    ("GET", "/api/auth/keys"),
    ("POST", "/api/auth/keys"),
    ("DELETE", "/api/auth/keys/x"),
    ("PUT", "/api/auth/settings"),
    ("GET", "/api/modules/official"),
    ("GET", "/api/modules/brain/approval"),
    ("POST", "/api/modules/brain/approve"),
    ("PUT", "/api/modules/brain/settings/password"),
    ("DELETE", "/api/modules/brain/settings/password"),
    ("PUT", "/api/provider"),
    ("POST", "/api/sandbox/build"),
    ("POST", "/api/mcps"),
    ("POST", "/api/mcps/notes/login"),
    ("POST", "/api/mcps/notes/login/answer"),
    ("DELETE", "/api/mcps/notes/login"),
    ("POST", "/api/mcps/oauth/callback"),
    ("PUT", "/api/modules/daily/prompt"),
    ("POST", "/api/workspaces"),
    ("PUT", "/api/workspaces/garden"),
    ("DELETE", "/api/workspaces/garden"),
    ("POST", "/never/heard/of"),
]


@pytest.mark.parametrize(("method", "path"), ADMIN_ROUTES)
def test_what_decides_over_rights_needs_admin(gate: MakeGate, method: str, path: str) -> None:
    made = gate()
    _, writer = made.keys.create("writer", [Scope.parse("*:read,write")])
    _, owner = made.keys.create("owner")
    assert made.call(method, path, {"X-API-Key": writer}, client=REMOTE).status == 403
    assert made.call(method, path, {"X-API-Key": owner}, client=REMOTE).status == 200
    # No such connection exists, so the kernel cannot say whose it is.
    assert made.call(method, path).status == 403


def test_admin_of_one_module_is_not_admin_of_the_keys(gate: MakeGate) -> None:
    made = gate()
    _, secret = made.keys.create("daily admin", [Scope.parse("daily:admin"), Scope.parse("modules:read")])
    for method, path in ADMIN_ROUTES:
        assert made.call(method, path, {"X-API-Key": secret}).status == 403


def test_the_agents_of_a_module_are_used_like_the_module(gate: MakeGate) -> None:
    made = gate()
    _, secret = made.keys.create("phone", [Scope.parse("daily:read,write")])
    assert made.call("POST", "/api/modules/daily/agents/reflection/run", {"X-API-Key": secret}).status == 200
    assert made.call("POST", "/api/modules/brain/agents/x/run", {"X-API-Key": secret}).status == 403
    assert made.call("GET", "/api/modules/daily/prompt", {"X-API-Key": secret}).status == 200
    assert made.call("GET", "/api/modules/brain/prompt", {"X-API-Key": secret}).status == 403
    assert made.call("POST", "/api/modules/daily/enable", {"X-API-Key": secret}).status == 403


def test_the_token_of_the_command_line_grants_everything(gate: MakeGate) -> None:
    for auth_mode in ("remote", "always", "disabled"):
        made = gate(auth_mode=auth_mode)
        answer = made.call("POST", "/api/auth/keys", {"Authorization": f"Bearer {made.cli_token.obtain()}"})
        assert (answer.status, answer.json["kind"], answer.json["admin"]) == (200, "cli", True)


@pytest.mark.parametrize(
    "path",
    ["/api/daily/../auth/keys", "/api/./auth", "/api/daily/..", "/api/daily/.", "/api/daily\\..\\auth", "/api/a\0b"],
)
def test_a_path_that_means_another_is_refused(gate: MakeGate, path: str) -> None:
    assert gate().call("GET", path).status == 400


def test_dots_in_names_are_fine(gate: MakeGate) -> None:
    assert gate().call("GET", "/api/brain/entities/a..b/.hidden/x.md").status == 200


def test_websockets_are_refused(gate: MakeGate) -> None:
    client = TestClient(gate().app, base_url="http://localhost:3333", client=("127.0.0.1", 1))
    with pytest.raises(Exception) as caught, client.websocket_connect("/api/chat"):
        pass
    assert isinstance(caught.value, WebSocketDisconnect) or getattr(caught.value, "status_code", None) == 403
    scope = {"type": "websocket", "path": "/api/chat", "headers": []}
    sent = asyncio.run(drive(gate().app, scope, [{"type": "websocket.connect"}]))
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_a_refusal_never_reaches_the_application(gate: MakeGate) -> None:
    made = gate()
    reached: list[str] = []

    async def application(scope: object, receive: object, send: object) -> None:
        reached.append("yes")

    made.app.app = application
    assert made.call(client=REMOTE).status == 401
    assert made.call(host="evil.example").status == 403
    assert reached == []


def test_it_can_be_added_to_an_application(gate: MakeGate) -> None:
    made = gate()
    app = FastAPI()
    app.add_middleware(
        AccessMiddleware,
        keys=made.keys,
        cli_token=made.cli_token,
        browsers=made.browsers,
        mcp_clients=made.mcp_clients,
        peers=UntoldPeers(),
    )

    @app.post("/api/chat")
    async def chat(request: Request) -> str:
        caller: Caller = request.state.caller
        return caller.kind

    with TestClient(app, base_url="http://localhost:3333", client=("127.0.0.1", 1)) as client:
        assert client.post("/api/chat").json() == "local"
        refused = client.post("/api/chat", headers={"X-API-Key": "para_wrong"})
        assert refused.status_code == 401
        assert isinstance(refused.json()["detail"], str)
