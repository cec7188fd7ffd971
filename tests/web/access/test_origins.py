"""Origins: the web pages that may call."""

import itertools
from collections.abc import Callable

import pytest

from tests.support.errors import raises

from .gate import Gate

MakeGate = Callable[..., Gate]
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "https://evil.example",
        "http://localhost:8080",
        "http://localhost",
        "http://evil.example:3333",
        "http://localhost:3333.evil.example",
        "http://localhost:3333@evil.example",
        "file://",
        "",
        "localhost:3333",
        "chrome-extension://abc",
    ],
)
def test_a_page_of_another_origin_is_refused_everywhere(gate: MakeGate, origin: str) -> None:
    made = gate()
    for method, path in itertools.product(METHODS, ("/api/chat", "/api/health", "/supervisor/status")):
        answer = made.call(method, path, {"Origin": origin})
        assert (answer.status, answer.json["key"]) == (403, "origin_not_allowed"), (method, path)


def test_a_post_without_a_body_from_another_origin_is_not_executed(gate: MakeGate) -> None:
    answer = gate().call("POST", "/api/chat/1/abort", {"Origin": "https://evil.example", "Content-Length": "0"})
    assert answer.status == 403
    assert "parachute config set origins https://evil.example" in answer.hint


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_foreign_page_that_hides_its_origin_reaches_nothing(gate: MakeGate, site: str) -> None:
    made = gate()
    for method in METHODS:
        answer = made.call(method, "/api/chat", {"Sec-Fetch-Site": site})
        assert (answer.status, answer.json["key"]) == (403, "origin_not_allowed"), method
    # A link may lead to where a new computer is set up.
    for path in ("/setup", "/api/health"):
        assert made.call("GET", path, {"Sec-Fetch-Site": site}).status == 200


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_own_pages_and_typed_addresses_may_call(gate: MakeGate, site: str) -> None:
    assert gate().call("POST", "/api/chat", {"Sec-Fetch-Site": site}).status == 200


def test_programs_without_an_origin_may_call(gate: MakeGate) -> None:
    assert gate().call("POST", "/api/chat").status == 200


@pytest.mark.parametrize(
    ("origin", "host", "scheme", "status"),
    [
        ("http://localhost:3333", "localhost:3333", "http", 200),
        ("HTTP://LOCALHOST:3333", "localhost:3333", "http", 200),
        ("http://localhost", "localhost", "http", 200),
        ("http://localhost", "localhost:80", "http", 200),
        ("http://localhost:80", "localhost", "http", 200),
        ("http://[::1]:3333", "[::1]:3333", "http", 200),
        ("https://localhost", "localhost", "https", 200),
        ("https://localhost:443", "localhost", "http", 200),
        ("http://localhost", "localhost", "https", 403),
        ("http://localhost:3334", "localhost:3333", "http", 403),
        ("http://127.0.0.1:3333", "localhost:3333", "http", 403),
        ("ftp://localhost:3333", "localhost:3333", "http", 403),
    ],
)
def test_a_page_of_this_server_may_call(gate: MakeGate, origin: str, host: str, scheme: str, status: int) -> None:
    assert gate().call("POST", "/api/chat", {"Origin": origin}, host=host, scheme=scheme).status == status


def test_configured_origins_may_call(gate: MakeGate) -> None:
    made = gate(origins=["https://notes.example.org", "http://localhost:8080", "https://x.example:443"])
    for origin in ("https://notes.example.org", "https://notes.example.org:443", "http://localhost:8080"):
        assert made.call("POST", "/api/chat", {"Origin": origin, "Sec-Fetch-Site": "cross-site"}).status == 200
    assert made.call("POST", "/api/chat", {"Origin": "https://x.example"}).status == 200
    for origin in ("http://notes.example.org", "https://sub.notes.example.org", "http://localhost:8081"):
        assert made.call("POST", "/api/chat", {"Origin": origin}).status == 403


@pytest.mark.parametrize(
    "origin", ["", "*", "null", "notes.example.org", "https://notes.example.org/", "https://*.org"]
)
def test_a_configured_origin_that_is_none_stops_the_start(gate: MakeGate, origin: str) -> None:
    with raises("invalid_origin"):
        gate(origins=[origin])
