"""Signing in as a browser does it, at a whole computer."""

import json
import re
from collections.abc import Iterator
from secrets import token_hex
from typing import Any

import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.support.browser import Browser, new_code, owners
from tests.support.server import Server


@pytest.fixture
def another(server: Server) -> Iterator[Browser]:
    """A second browser."""
    with Browser(server) as made:
        yield made


def new_key(computer: Server, *scopes: str) -> str:
    """The secret of a new key."""
    keys = Keys(computer.home.root)
    try:
        made = [Scope.parse(scope) for scope in scopes]
        return (keys.create(f"key {token_hex(4)}", made) if made else keys.create(f"key {token_hex(4)}"))[1]
    finally:
        keys.close()


def records(computer: Server) -> list[dict[str, Any]]:
    """The records of the audit log."""
    folder = computer.vault / ".parachute" / "audit"
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def unconfirmed(computer: Server, browser: Browser, **asked: object) -> None:
    """Sign a browser in and let its confirmation be over, as after a start of the server, which it outlives."""
    signed_in = browser.sign_in(**asked)
    computer.stop()
    computer.start()
    assert browser.me() == {**signed_in, "confirmed_until": None}


def test_a_stranger_learns_what_it_needs(browser: Browser) -> None:
    told = browser.me()
    assert told.pop("program").endswith("parachute")
    assert told == {
        "signed_in": False,
        "kind": "local",
        "name": None,
        "id": None,
        "scopes": ["*:read,write"],
        "admin": False,
        "confirmed_until": None,
        "needs": "code",
        "set_up": None,
    }


def test_a_code_signs_in_once(server: Server, browser: Browser, another: Browser) -> None:
    code = new_code(server, name="Ada's phone")
    answer = browser.post("/api/pairing/sign-in", {"code": code["code"].lower().replace("-", " ")})
    assert answer.status_code == 200
    assert browser.cookie is not None
    secret = browser.cookie.partition("=")[2]
    assert secret not in answer.text
    header, _ = answer.headers.get_list("set-cookie")
    assert set(header.split("; ")[1:]) == {"Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=7776000"}
    found, said = browser.me(), answer.json()
    # It is counted from now, to the millisecond.
    assert said.pop("confirmed_until")
    assert found.pop("confirmed_until")
    assert found == said
    assert (found["signed_in"], found["kind"], found["name"], found["admin"]) == (True, "session", "Ada's phone", True)
    assert browser.get("/api/auth/keys").status_code == 200
    again = another.post("/api/pairing/sign-in", {"code": code["code"]}, origin=server.url)
    assert (again.status_code, again.json()["key"]) == (403, "wrong_code")
    assert another.cookie is None
    stored = (server.home.root / "browser-sessions.yaml").read_text()
    assert secret not in stored
    assert code["code"] not in stored


def test_the_code_is_shown_as_an_address_and_without_a_picture_for_this_machine_alone(server: Server) -> None:
    made = new_code(server)
    assert re.fullmatch(r"[2-9A-Z]{4}-[2-9A-Z]{4}", made["code"])
    assert made["url"] == f"{server.url}/#pair={made['code']}"
    assert made["scopes"] == ["*:read,write,admin"]
    assert made["qr"] == []


def test_over_tls_the_cookie_is_one_that_browsers_protect(server: Server, browser: Browser) -> None:
    # As a page says it that a proxy before us gave out.
    page = server.url.replace("http://", "https://")
    answer = browser.post("/api/pairing/sign-in", {"code": new_code(server)["code"]}, origin=page)
    header, reading = answer.headers.get_list("set-cookie")
    pair, *attributes = header.split("; ")
    assert pair.startswith("__Host-parachute=")
    assert set(attributes) == {"Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=7776000", "Secure"}
    part, *attributes = reading.split("; ")
    assert re.fullmatch(r"__Host-parachute-reading=[\w-]{43}", part)
    assert set(attributes) == {"Path=/", "SameSite=Strict", "Max-Age=7776000", "Secure"}
    browser.cookie = pair
    answer = browser.get("/api/pairing/me")
    assert answer.json()["signed_in"] is True
    assert answer.headers.get_list("set-cookie") == [header, reading], "they are renewed as they came"


def test_the_audit_names_the_browser(server: Server, browser: Browser) -> None:
    name = f"phone {token_hex(4)}"
    browser.sign_in(name=name)
    browser.post("/api/panic")
    owners(server, "POST", "/api/resume")

    def found() -> list[dict[str, Any]]:
        return [each for each in records(server) if each["source_id"] == name]

    server.wait_until(lambda: len(found()) == 2, "both are written")
    ours = found()
    assert [(each["source_type"], each["target_endpoint"]) for each in ours] == [
        ("browser", "POST /api/pairing/sign-in"),
        ("browser", "POST /api/panic"),
    ]


def test_a_key_signs_in_with_its_scopes_and_ends_with_it(server: Server, browser: Browser) -> None:
    secret = new_key(server, "chat:read", "auth:read")
    found = browser.post("/api/pairing/sign-in", {"key": secret, "name": "kitchen"}).json()
    assert (found["name"], found["scopes"], found["admin"]) == ("kitchen", ["chat:read", "auth:read"], False)
    assert browser.get("/api/chat").status_code == 200
    refused = browser.get("/api/auth/keys")
    assert (refused.status_code, refused.json()["key"]) == (403, "browser_lacks_scope")
    keys = Keys(server.home.root)
    (key,) = [each for each in keys.list() if each.scopes == tuple(map(Scope.parse, found["scopes"]))]
    keys.revoke(key.id)
    ended = browser.get("/api/chat")
    assert (ended.status_code, ended.json()["key"]) == (401, "signed_out")
    assert browser.me()["signed_in"] is False


def test_signing_out_ends_it_and_takes_the_cookie(browser: Browser) -> None:
    browser.sign_in()
    kept = browser.cookie
    assert browser.post("/api/pairing/sign-out").json() == {"success": True}
    assert browser.cookie is None
    browser.cookie = kept
    assert browser.get("/api/chat").json()["key"] == "signed_out"
    assert browser.post("/api/pairing/sign-out").status_code == 200
    assert browser.cookie is None


def test_signing_in_again_leaves_one(server: Server, browser: Browser) -> None:
    first = browser.sign_in()["id"]
    second = browser.sign_in()["id"]
    listed = {each["id"] for each in owners(server, "GET", "/api/pairing/sessions").json()["sessions"]}
    assert second in listed
    assert first not in listed


def test_browsers_are_listed_and_signed_out_by_the_owner(browser: Browser, another: Browser) -> None:
    browser.sign_in(name="desk")
    other = another.sign_in(name="kitchen", scopes=["chat:read"])
    listed = {each["id"]: each for each in browser.get("/api/pairing/sessions").json()["sessions"]}
    assert listed[other["id"]]["name"] == "kitchen"
    assert [each["is_current"] for each in listed.values()].count(True) == 1
    assert another.get("/api/pairing/sessions").status_code == 403
    refused = another.ask("DELETE", f"/api/pairing/sessions/{browser.me()['id']}")
    assert (refused.status_code, refused.json()["key"]) == (403, "not_own_browser")
    assert browser.ask("DELETE", f"/api/pairing/sessions/{other['id']}").json() == {"success": True}
    assert another.get("/api/chat").json()["key"] == "signed_out"
    assert browser.ask("DELETE", f"/api/pairing/sessions/{other['id']}").status_code == 404


def test_everybody_may_end_their_own(browser: Browser) -> None:
    own = browser.sign_in(scopes=["chat:read"])["id"]
    assert browser.ask("DELETE", f"/api/pairing/sessions/{own}").json() == {"success": True}
    assert browser.me()["signed_in"] is False


def test_a_code_can_be_taken_back(server: Server, browser: Browser) -> None:
    made = new_code(server)
    assert owners(server, "DELETE", f"/api/pairing/codes/{made['id']}").json() == {"success": True}
    assert browser.post("/api/pairing/sign-in", {"code": made["code"]}).json()["key"] == "wrong_code"


def test_a_browser_makes_codes_of_no_more_than_its_own_rights(browser: Browser, another: Browser) -> None:
    browser.sign_in(scopes=["auth:admin", "chat:read"])
    made = browser.post("/api/pairing/codes").json()
    assert made["scopes"] == ["auth:admin", "chat:read"]
    raised = browser.post("/api/pairing/codes", {"scopes": ["*:admin"]})
    assert (raised.status_code, raised.json()["key"]) == (403, "more_than_own_rights")
    unknown = browser.post("/api/pairing/codes", {"scopes": ["nobody:read"]})
    assert (unknown.status_code, unknown.json()["key"]) == (422, "unknown_scope")
    assert another.post("/api/pairing/sign-in", {"code": made["code"]}).json()["scopes"] == made["scopes"]


def test_a_code_ends_with_the_browser_that_made_it(browser: Browser, another: Browser) -> None:
    browser.sign_in()
    code = browser.post("/api/pairing/codes").json()["code"]
    browser.post("/api/pairing/sign-out")
    assert another.post("/api/pairing/sign-in", {"code": code}).json()["key"] == "wrong_code"


DECISIONS = [
    ("POST", "/api/auth/keys", {"label": "phone"}),
    ("DELETE", "/api/auth/keys/nobody", None),
    ("POST", "/api/pairing/codes", {}),
    ("DELETE", "/api/pairing/sessions/nobody", None),
    ("POST", "/api/resume", {}),
    ("POST", "/api/modules/daily/approve", {}),
    ("POST", "/api/modules/staged", {}),
    ("POST", "/api/modules/official/install", {}),
    ("POST", "/api/modules/daily/agents/morning/approve", {}),
    ("POST", "/api/mcps", {}),
    ("POST", "/api/plugins/install", {}),
    ("POST", "/api/agents", {}),
    ("POST", "/api/skills", {}),
    ("POST", "/api/chat", {"message": "Hello", "trustLevel": "direct"}),
    ("POST", "/api/workspaces", {"name": "Direct", "default_trust_level": "direct"}),
]


def test_what_the_owner_decides_is_confirmed_again(server: Server, browser: Browser, another: Browser) -> None:
    unconfirmed(server, browser)
    for method, path, body in DECISIONS:
        answer = browser.ask(method, path, body)
        assert (answer.status_code, answer.json()["key"]) == (403, "confirmation_needed"), path
    # What is no decision goes on, and so do keys and the command line.
    assert browser.get("/api/auth/keys").status_code == 200
    assert browser.post("/api/panic").status_code == 200
    assert owners(server, "POST", "/api/resume").status_code == 200
    made = owners(server, "POST", "/api/auth/keys", {"label": f"phone {token_hex(4)}"})
    assert made.status_code == 200
    # A conversation that is direct already goes on without a word: making it so was the decision.
    direct = {"message": "Hello", "trustLevel": "direct"}
    began = owners(server, "POST", "/api/chat", direct).text
    session = re.findall(r'"sessionId": "([0-9a-f-]{36})"', began)[0]
    injected = browser.post(f"/api/chat/{session}/inject", {"message": "And?"})
    assert browser.get(f"/api/chat/{session}").json()["trustLevel"] == "direct"
    assert (injected.status_code, injected.json()["key"]) == (404, "no_run"), "it is asked, and nothing is running"
    # The code of another browser that may do as much confirms, and so does a key.
    another.sign_in()
    code = another.post("/api/pairing/codes").json()["code"]
    assert browser.post("/api/pairing/confirm", {"code": code}).json()["confirmed_until"] is not None
    assert browser.post("/api/pairing/confirm", {"key": made.json()["key"]}).json()["confirmed_until"] is not None
    assert browser.ask("DELETE", f"/api/auth/keys/{made.json()['id']}").status_code == 200


def test_an_approval_in_the_inbox_is_confirmed_and_a_refusal_is_not(server: Server, browser: Browser) -> None:
    hooks = server.home.root / "hooks"
    hooks.mkdir(exist_ok=True)
    program = hooks / "own.sh"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    text = json.dumps({"daily.entry.created": [{"command": str(program), "name": "own"}]})
    (server.home.root / "hooks.yaml").write_text(f"hooks: {text}\n")
    unconfirmed(server, browser)
    items = [each for each in browser.get("/api/inbox").json()["items"] if each["kind"] == "hook"]
    assert items, browser.get("/api/inbox").text
    answer = {"id": items[0]["id"], "hash": items[0]["hash"], "answer": "approve"}
    refused = browser.post("/api/inbox/answer", answer)
    assert (refused.status_code, refused.json()["key"]) == (403, "confirmation_needed")
    browser.post("/api/pairing/confirm", {"code": new_code(server)["code"]})
    assert browser.post("/api/inbox/answer", answer).status_code == 200


def test_only_what_may_do_as_much_confirms(server: Server, browser: Browser) -> None:
    browser.sign_in()
    own = browser.post("/api/pairing/codes").json()["code"]
    refused = browser.post("/api/pairing/confirm", {"code": own})
    assert (refused.status_code, refused.json()["key"]) == (403, "own_code")
    family = new_code(server, scopes=["chat:read"])["code"]
    refused = browser.post("/api/pairing/confirm", {"code": family})
    assert (refused.status_code, refused.json()["key"]) == (403, "lesser_code")
    refused = browser.post("/api/pairing/confirm", {"key": new_key(server, "chat:read")})
    assert (refused.status_code, refused.json()["key"]) == (403, "lesser_code")
    assert owners(server, "POST", "/api/pairing/confirm", {"code": own}).json()["key"] == "no_browser"


def test_who_is_not_signed_in_has_nothing_to_confirm(server: Server, browser: Browser) -> None:
    answer = browser.post("/api/pairing/confirm", {"code": new_code(server)["code"]})
    assert (answer.status_code, answer.json()["key"]) == (403, "page_lacks_key")


@pytest.mark.parametrize(
    "body", [{}, {"code": "x", "key": "y"}, {"code": 1}, {"code": ""}, {"code": "x", "other": 1}, []]
)
def test_what_is_no_proof_is_refused(browser: Browser, body: object) -> None:
    answer = browser.post("/api/pairing/sign-in", body)
    assert answer.status_code == 422
    assert isinstance(answer.json()["detail"], str)


def test_a_name_that_is_none_leaves_the_code_open(server: Server, browser: Browser) -> None:
    code = new_code(server)["code"]
    assert browser.post("/api/pairing/sign-in", {"code": code, "name": "a\nb"}).status_code == 422
    assert browser.post("/api/pairing/sign-in", {"code": code}).json()["name"] == "Firefox on Linux"


def test_a_page_on_this_machine_is_told_what_to_type(server: Server, browser: Browser) -> None:
    assert browser.me()["program"].endswith("parachute")
    browser.sign_in()
    assert browser.me()["program"] is None
