"""Address of a caller behind reverse proxies."""

from collections.abc import Callable

import pytest

from tests.support.errors import raises

from .gate import LOOPBACK, REMOTE, Gate

MakeGate = Callable[..., Gate]
MARKS = [
    ("X-Forwarded-For", "203.0.113.9"),
    ("X-Forwarded-For", "127.0.0.1"),
    ("X-Forwarded-Host", "localhost"),
    ("X-Forwarded-Proto", "https"),
    ("Forwarded", "for=127.0.0.1"),
    ("X-Real-IP", "127.0.0.1"),
    ("Via", "1.1 proxy"),
]


@pytest.mark.parametrize(("name", "value"), MARKS)
def test_nobody_behind_a_proxy_counts_as_this_computer(gate: MakeGate, name: str, value: str) -> None:
    made = gate()
    for peer in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
        answer = made.call("POST", "/api/chat", {name: value}, client=(peer, 1))
        assert answer.status == 401
        assert "proxy" in answer.detail
    # Nor can a stranger claim to be it.
    assert made.call("POST", "/api/chat", {name: value}, client=REMOTE).status == 401


@pytest.mark.parametrize("headers", [{}, {"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": 'for="[::1]"'}])
def test_a_configured_proxy_makes_nobody_local(gate: MakeGate, headers: dict[str, str]) -> None:
    made = gate(trusted_proxies=["127.0.0.1"])
    assert made.call("POST", "/api/chat", headers).status == 401
    assert made.call("POST", "/api/chat", client=("::1", 1)).status == 200


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ([("X-Forwarded-For", "203.0.113.9")], "203.0.113.9"),
        ([("X-Forwarded-For", "127.0.0.1, 203.0.113.9")], "203.0.113.9"),
        ([("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-For", "203.0.113.9, 10.1.2.3")], "203.0.113.9"),
        ([("X-Forwarded-For", "203.0.113.9:4711")], "203.0.113.9"),
        ([("X-Forwarded-For", "[2001:db8::1]:4711")], "2001:db8::1"),
        ([("X-Forwarded-For", "203.0.113.9, unknown")], "10.0.0.1"),
        ([("Forwarded", 'for=127.0.0.1, for="203.0.113.9:80";proto=https')], "203.0.113.9"),
        ([("Forwarded", 'proto=https;FOR="[2001:db8::1]:80"')], "2001:db8::1"),
        ([("Forwarded", "for=_hidden")], "10.0.0.1"),
        ([], "10.0.0.1"),
    ],
)
def test_the_address_comes_from_the_proxy(gate: MakeGate, headers: list[tuple[str, str]], address: str) -> None:
    made = gate(trusted_proxies=["10.0.0.0/8"])
    _, secret = made.keys.create("phone")
    answer = made.call("GET", "/api/chat", [*headers, ("X-API-Key", secret)], client=("10.0.0.1", 1))
    assert answer.json["address"] == address


def test_headers_of_a_proxy_that_is_not_configured_are_not_believed(gate: MakeGate) -> None:
    made = gate(trusted_proxies=["10.0.0.1"])
    _, secret = made.keys.create("phone")
    headers = {"X-Forwarded-For": "203.0.113.9", "X-API-Key": secret}
    assert made.call(headers=headers, client=REMOTE).json["address"] == REMOTE[0]
    assert made.call(headers=headers, client=LOOPBACK).json["address"] == LOOPBACK[0]


def test_with_keys_switched_off_only_the_configured_proxy_is_relied_on(gate: MakeGate) -> None:
    made = gate(auth_mode="disabled", trusted_proxies=["127.0.0.2"])
    headers = {"X-Forwarded-For": "203.0.113.9"}
    answer = made.call("POST", "/api/chat", headers, client=("127.0.0.2", 1))
    assert (answer.status, answer.json["kind"], answer.json["admin"]) == (200, "anonymous", False)
    assert made.call("POST", "/api/auth/keys", headers, client=("127.0.0.2", 1)).status == 403
    assert made.call("POST", "/api/chat", headers, client=LOOPBACK).status == 401


@pytest.mark.parametrize("proxy", ["", "*", "proxy.local", "10.0.0.1/8", "10.0.0.0/99"])
def test_a_configured_proxy_that_is_no_address_stops_the_start(gate: MakeGate, proxy: str) -> None:
    with raises("invalid_proxy"):
        gate(trusted_proxies=[proxy])
