"""Under which names this computer may be called."""

import socket
from collections.abc import Callable

import psutil
import pytest

from parachute.web.access.hosts import HostAllowList, HostNotListed
from tests.support.errors import raises

from .gate import REMOTE, Gate

pytestmark = pytest.mark.process

MakeGate = Callable[..., Gate]


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:3333",
        "LocalHost:1",
        "localhost.",
        "127.0.0.1:3333",
        "127.9.8.7",
        "[::1]:3333",
        "[::ffff:127.0.0.1]",
        socket.gethostname(),
        f"{socket.gethostname().partition('.')[0]}.local:3333",
    ],
)
def test_own_names_are_fine_with_any_port(gate: MakeGate, host: str) -> None:
    assert gate().call("GET", "/api/health", host=host).status == 200


@pytest.mark.parametrize(
    "name", [socket.gethostname(), f"{socket.gethostname().partition('.')[0]}.local", "my.example"]
)
def test_a_page_that_others_gave_out_under_our_name_is_not_from_this_computer(gate: MakeGate, name: str) -> None:
    # Their name server said that it is theirs, and says now that it is 127.0.0.1; some browsers let pages write User-Agent.
    made = gate(hostnames=["my.example"])
    same_origin = {"origin": f"http://{name}:3333"}
    for method, path, headers in (
        ("GET", "/api/chat", {}),
        ("POST", "/api/chat", same_origin),
        ("GET", "/api/auth/keys", {}),
    ):
        assert made.call(method, path, headers, host=f"{name}:3333").status == 401
        assert made.call(method, path, {**headers, "user-agent": "Mozilla/5.0"}, host=f"{name}:3333").status == 401
    assert made.call("GET", "/supervisor/status", host=name).status == 401
    _, secret = made.keys.create("phone")
    for _ in range(2):
        assert made.call("POST", "/api/chat", {**same_origin, "X-API-Key": secret}, host=f"{name}:3333").status == 200
    assert made.call(host="localhost:3333").status == 200, "what is remembered of one name is not said of another"


def test_the_addresses_of_the_network_interfaces_are_fine(gate: MakeGate) -> None:
    def found() -> set[str]:
        hosts = set()
        for each in psutil.net_if_addrs().values():
            # Of several of version 4 the kernel names the first one alone.
            hosts |= set([f"{one.address}:3333" for one in each if one.family == socket.AF_INET][:1])
            hosts |= {f"[{one.address.partition('%')[0]}]:3333" for one in each if one.family == socket.AF_INET6}
        return hosts

    before, made = found(), gate()
    statuses = {host: made.call(host=host).status for host in before}
    # Other tests make interfaces and remove them.
    assert {statuses[host] for host in before & found()} == {200}


def test_the_address_that_the_connection_came_to_is_fine(gate: MakeGate) -> None:
    made = gate()
    assert made.call(host="198.51.100.7:3333").status == 403
    assert made.call(host="198.51.100.7:3333", server=("198.51.100.7", 3333)).status == 200
    assert made.call(host="0.0.0.0:3333", server=("0.0.0.0", 3333)).status == 403


def test_the_address_that_the_server_listens_on_is_fine(gate: MakeGate) -> None:
    made = gate(bind="127.0.0.53")
    assert made.call(host="127.0.0.53").status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:3333",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "other.local",
        "0.0.0.0:3333",
        "[::]:3333",
        "127.1",
        "2130706433",
        "203.0.113.9",
    ],
)
def test_a_name_that_was_pointed_here_is_refused_on_every_route(gate: MakeGate, host: str) -> None:
    made = gate()
    for method, path in (("GET", "/api/health"), ("POST", "/api/chat"), ("GET", "/nothing")):
        answer = made.call(method, path, host=host)
        assert (answer.status, answer.json["key"]) == (403, "host_not_listed")
        assert "parachute config add hostnames" in answer.hint


def test_a_valid_key_does_not_help_a_foreign_name(gate: MakeGate) -> None:
    made = gate()
    _, secret = made.keys.create("phone")
    assert made.call(host="evil.example", headers={"X-API-Key": secret}, client=REMOTE).status == 403


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        " ",
        ":3333",
        "localhost:",
        "localhost:x",
        "localhost:99999",
        "a b",
        "a/b",
        "user@localhost",
        "[::1",
        "é",
        "localhost,evil.example",
        "[zz]",
        "x" * 300,
    ],
)
def test_a_missing_or_malformed_host_is_a_bad_request(gate: MakeGate, host: str | None) -> None:
    answer = gate().call(host=host)
    assert answer.status == 400
    assert "Host" in answer.detail


def test_two_hosts_are_a_bad_request(gate: MakeGate) -> None:
    answer = gate().call(headers=[("host", "localhost"), ("host", "evil.example")], host=None)
    assert answer.status == 400
    assert "host" in answer.detail


def test_configured_names_are_fine(gate: MakeGate) -> None:
    made = gate(hostnames=["Parachute.example.org", "203.0.113.9", "2001:db8::1"])
    assert made.call("GET", "/api/health", host="parachute.example.org:443").status == 200
    assert made.call(host="203.0.113.9").status == 200
    assert made.call(host="[2001:db8:0::1]:3333").status == 200
    assert made.call(host="sub.parachute.example.org").status == 403


@pytest.mark.parametrize("name", ["", "*", "*.example.org", "https://example.org", "example.org:3333", "a b", "-x"])
def test_a_configured_name_that_is_none_stops_the_start(gate: MakeGate, name: str) -> None:
    with raises("invalid_hostname"):
        gate(hostnames=[name])


def test_many_hosts_do_not_fill_the_memory() -> None:
    hosts = HostAllowList()
    assert all(hosts.check(b"localhost:%d" % port) for port in range(1, 1000))
    with pytest.raises(HostNotListed):
        hosts.check(b"evil.example")
    assert 0 < len(hosts._remembered) <= 256
