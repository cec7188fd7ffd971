"""A browser's cookie counts for requests of our own pages, and for nothing else."""

from collections.abc import Callable

import pytest

from parachute.security.keys.models import FULL_ACCESS, Scope

from .gate import REMOTE, Gate

MakeGate = Callable[..., Gate]
HERE = "http://localhost:3333"
OWN = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def signed_in(gate: MakeGate) -> tuple[Gate, str]:
    """The gate, and the cookie of a browser with all rights."""
    made = gate()
    return made, made.browsers.create("Ada's phone", FULL_ACCESS)[1]


@pytest.mark.parametrize("client", [("127.0.0.1", 5), REMOTE])
def test_it_is_known_by_its_cookie(signed_in: tuple[Gate, str], client: tuple[str, int]) -> None:
    made, secret = signed_in
    answer = made.call(headers={"cookie": f"theme=dark; parachute={secret}", **OWN}, client=client)
    assert (answer.json["kind"], answer.json["name"], answer.json["is_browser"]) == ("browser", "Ada's phone", True)


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
        {"origin": HERE},
        {"origin": "https://localhost:3333"},
        {"referer": f"{HERE}/chat?x=1"},
        {"x-parachute-console": "1"},
    ],
)
def test_a_page_of_ours_reads(signed_in: tuple[Gate, str], headers: dict[str, str]) -> None:
    made, secret = signed_in
    assert made.call(headers={"cookie": f"parachute={secret}", **headers}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:8080"},
        {"origin": "http://127.0.0.1:3333"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "same-site", "referer": f"{HERE}/"},
        {"sec-fetch-site": "nonsense"},
        {"referer": "http://localhost:8080/"},
        {"referer": "http://localhost:3333.evil.example/"},
        {"referer": "http://evil.example/http://localhost:3333/"},
        {"referer": "localhost:3333"},
        {"referer": ""},
    ],
)
@pytest.mark.parametrize("path", ["/api/chat", "/api/inbox/events", "/api/pairing/sessions"])
def test_nothing_else_reads_with_the_cookie(signed_in: tuple[Gate, str], path: str, headers: dict[str, str]) -> None:
    made, secret = signed_in
    answer = made.call("GET", path, {"cookie": f"parachute={secret}", **headers})
    assert (answer.status, answer.json["key"]) == (403, "origin_not_allowed")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_what_changes_something_names_our_origin(signed_in: tuple[Gate, str], method: str) -> None:
    made, secret = signed_in
    cookie = {"cookie": f"parachute={secret}"}
    for headers in ({}, OWN, {"referer": f"{HERE}/"}, {"x-parachute-console": "1"}, {"origin": "http://localhost:1"}):
        answer = made.call(method, "/api/chat/x", {**cookie, **headers})
        assert (answer.status, answer.json["key"]) == (403, "origin_not_allowed"), headers
    assert made.call(method, "/api/chat/x", {**cookie, "origin": HERE}).status == 200


def test_a_configured_origin_may_use_keys_and_not_the_cookie(gate: MakeGate) -> None:
    made = gate(origins=["http://localhost:8080"])
    secret, key = made.browsers.create("phone", FULL_ACCESS)[1], made.keys.create("notes")[1]
    elsewhere = {"origin": "http://localhost:8080"}
    assert made.call(headers={"x-api-key": key, **elsewhere}).status == 200
    assert made.call(headers={"cookie": f"parachute={secret}", **elsewhere}).json["key"] == "origin_not_allowed"


def test_what_everybody_may_have_is_there_without_the_cookie_counting(signed_in: tuple[Gate, str]) -> None:
    made, secret = signed_in
    answer = made.call("GET", "/api/pairing/me", {"cookie": f"parachute={secret}"}, client=REMOTE)
    assert (answer.status, answer.json["kind"]) == (200, "anonymous")


def test_under_a_name_that_is_not_ours_it_is_worth_nothing(signed_in: tuple[Gate, str]) -> None:
    made, secret = signed_in
    headers = {"cookie": f"parachute={secret}", "origin": "http://evil.example:3333"}
    assert made.call(headers=headers, host="evil.example:3333").json["key"] == "host_not_listed"


def test_over_tls_only_the_name_counts_that_browsers_protect(signed_in: tuple[Gate, str]) -> None:
    made, secret = signed_in
    plain, protected = {"cookie": f"parachute={secret}", **OWN}, {"cookie": f"__Host-parachute={secret}", **OWN}
    assert made.call(headers=plain, client=REMOTE, scheme="https").json["key"] == "key_needed"
    assert made.call(headers=protected, client=REMOTE, scheme="https").status == 200
    # A proxy adds TLS: what anybody on the network may have set beside it does not count.
    both = {"cookie": f"parachute=paraweb_{'x' * 43}; __Host-parachute={secret}", **OWN}
    assert made.call(headers=both, client=REMOTE).status == 200


def test_two_sign_ins_are_none(signed_in: tuple[Gate, str]) -> None:
    made, secret = signed_in
    thiefs = made.browsers.create("thief", (Scope.parse("chat:read"),))[1]
    for pairs in (f"parachute={secret}; parachute={thiefs}", f"parachute={thiefs};parachute={secret}"):
        assert made.call(headers={"cookie": pairs, **OWN}).json["key"] == "two_sign_ins"
    sent = [("cookie", f"parachute={secret}"), ("cookie", f"parachute={thiefs}"), *OWN.items()]
    assert made.call(headers=sent).json["key"] == "two_sign_ins"


@pytest.mark.parametrize("form", ["{hash}", "sha256:{hash}", "paraweb_{hash}", "{id}", "", "x" * 5000, "\xff"])
def test_what_the_file_says_opens_nothing(signed_in: tuple[Gate, str], form: str) -> None:
    made, _ = signed_in
    (stored,) = made.browsers.store.load().keys
    cookie = form.replace("{hash}", stored.hash).replace("{id}", stored.id)
    answer = made.call(headers={"cookie": f"parachute={cookie}", **OWN}, client=REMOTE)
    assert (answer.status, answer.json["key"]) == (401, "signed_out")


def test_cookie_and_key_do_not_stand_for_each_other(signed_in: tuple[Gate, str]) -> None:
    made, secret = signed_in
    key = made.keys.create("phone")[1]
    assert made.call(headers={"cookie": f"parachute={key}", **OWN}).json["key"] == "signed_out"
    for headers in ({"x-api-key": secret}, {"authorization": f"Bearer {secret}"}):
        assert made.call(headers=headers).json["key"] == "wrong_key"
    # Who sends a key means it.
    both = made.call(headers={"cookie": f"parachute={secret}", "x-api-key": key, **OWN})
    assert (both.json["kind"], both.json["name"]) == ("key", "phone")


def test_its_scopes_hold(gate: MakeGate) -> None:
    made = gate()
    secret = made.browsers.create("kitchen", (Scope.parse("daily:read"),))[1]
    cookie = {"cookie": f"parachute={secret}", "origin": HERE}
    assert made.call("GET", "/api/daily/entries", cookie).status == 200
    for method, path in [("POST", "/api/daily/entries"), ("GET", "/api/chat"), ("POST", "/api/pairing/codes")]:
        answer = made.call(method, path, cookie)
        assert (answer.status, answer.json["key"]) == (403, "browser_lacks_scope")
        assert "This browser may not do this" in answer.detail
    assert made.call("POST", "/api/pairing/sign-out", cookie).status == 200


def test_a_decision_needs_a_confirmation_and_reading_does_not(gate: MakeGate) -> None:
    made = gate()
    secret = made.browsers.create("phone", FULL_ACCESS)[1]
    cookie = {"cookie": f"parachute={secret}", "origin": HERE}
    assert made.call("POST", "/api/auth/keys", cookie).status == 200
    made = gate()  # of a process that has just started, which knows of no confirmation
    answer = made.call("POST", "/api/auth/keys", cookie)
    assert (answer.status, answer.json["key"]) == (403, "confirmation_needed")
    assert answer.hint
    for method, path in [("PUT", "/api/network/decisions"), ("PUT", "/api/git/tokens"), ("GET", "/api/export")]:
        assert made.call(method, path, cookie).json["key"] == "confirmation_needed"
    for method, path in [("GET", "/api/auth/keys"), ("POST", "/api/chat"), ("POST", "/api/panic")]:
        assert made.call(method, path, cookie).status == 200
    key = made.keys.create("app")[1]
    assert made.call("POST", "/api/auth/keys", {"x-api-key": key}).status == 200
