"""Programs of the same computer: our own user's, another user's, and web pages."""

import socket
import sys
from collections.abc import Callable

import pytest

from parachute.security.keys.peers import is_own_process
from tests.support.another_user import needs_root, started

from .gate import Gate, Server

MakeGate = Callable[..., Gate]
Serve = Callable[..., Server]

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose the other end is"),
    pytest.mark.process,
]


def has_ipv6() -> bool:
    """Return whether this machine has the IPv6 loopback address."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback address")

CONNECT_AS_ANOTHER_USER = """
import os, socket, sys
assert os.getuid() == 65534
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
print(connection.getsockname()[1], flush=True)
if sys.argv[3] == "close":
    connection.close()
sys.stdin.read()
"""


def test_a_program_of_our_own_user_may_do_everything(gate: MakeGate, serve: Serve) -> None:
    server = serve(gate().app)
    answer = server.call("POST", "/api/auth/keys")
    assert (answer.status, answer.json["kind"], answer.json["admin"]) == (200, "local", True)
    assert not server.call("POST", "/api/chat").json["admin"]
    # The app's buttons send no key.
    assert server.call("POST", "/supervisor/server/stop").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://{host}"},
        {"Referer": "http://{host}/"},
        {"Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-CH-UA": "x"},
        {"Cookie": "a=b"},
        {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)"},
    ],
)
def test_a_web_page_can_neither_make_keys_nor_change_who_needs_one(
    gate: MakeGate, serve: Serve, headers: dict[str, str]
) -> None:
    server = serve(gate().app)
    headers = {name: value.format(host=f"127.0.0.1:{server.port}") for name, value in headers.items()}
    for method, path in [
        ("POST", "/api/auth/keys"),
        ("PUT", "/api/auth/settings"),
        ("PUT", "/api/provider"),
        ("POST", "/supervisor/server/stop"),
    ]:
        answer = server.call(method, path, headers)
        assert answer.status == 403
        assert "web page" in answer.detail
    allowed = server.call("POST", "/api/chat", headers)
    assert (allowed.status, allowed.json["is_browser"]) == (200, True)


def test_a_proxy_of_our_own_user_lends_its_rights_to_nobody(gate: MakeGate, serve: Serve) -> None:
    for settings in ({}, {"trusted_proxies": ["127.0.0.1"]}):
        server = serve(gate(**settings).app)
        assert server.call("POST", "/api/auth/keys", {"X-Forwarded-For": "127.0.0.1"}).status == 401
    server = serve(gate(auth_mode="disabled", trusted_proxies=["127.0.0.1"]).app)
    assert server.call("POST", "/api/auth/keys", {"X-Forwarded-For": "127.0.0.1"}).status == 403


def test_the_rights_of_our_own_user_can_be_switched_off(gate: MakeGate, serve: Serve) -> None:
    server = serve(gate(local_admin=False).app)
    assert server.call("POST", "/api/auth/keys").status == 403
    assert server.call("POST", "/api/chat").status == 200


def test_with_always_our_own_user_needs_a_key_too(gate: MakeGate, serve: Serve) -> None:
    assert serve(gate(auth_mode="always").app).call("POST", "/api/auth/keys").status == 401


@pytest.mark.parametrize(
    ("family", "listen_on", "connect_with", "connect_to"),
    [
        (socket.AF_INET, "127.0.0.1", socket.AF_INET, "127.0.0.1"),
        pytest.param(socket.AF_INET6, "::1", socket.AF_INET6, "::1", marks=needs_ipv6),
        pytest.param(socket.AF_INET, "127.0.0.1", socket.AF_INET6, "::ffff:127.0.0.1", marks=needs_ipv6),
    ],
)
def test_the_kernel_says_whose_the_other_end_is(
    family: int, listen_on: str, connect_with: int, connect_to: str
) -> None:
    with socket.socket(family) as listener, socket.socket(connect_with) as client:
        listener.bind((listen_on, 0))
        listener.listen()
        client.connect((connect_to, listener.getsockname()[1]))
        server, peer = listener.accept()
        with server:
            here = server.getsockname()[:2]
            assert is_own_process(peer[:2], here)
            assert not is_own_process((peer[0], peer[1] ^ 1), here)
            assert not is_own_process(peer[:2], (here[0], here[1] ^ 1))
            assert not is_own_process(here, here)
            assert not is_own_process(None, here)
            assert not is_own_process(peer[:2], None)


@needs_root
@pytest.mark.parametrize("then", ["stay", "close"])
def test_a_connection_of_another_user_is_not_ours_even_when_closed(then: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        child = started(CONNECT_AS_ANOTHER_USER, "127.0.0.1", str(listener.getsockname()[1]), then)
        server, peer = listener.accept()
        with server:
            if then == "close":
                # The kernel gives a socket without an owner to user 0, which may be who we are.
                assert server.recv(1) == b""
            assert not is_own_process(peer, server.getsockname())
        child.communicate()
        assert child.returncode == 0


def test_a_closed_connection_of_our_own_is_not_ours_any_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, peer = listener.accept()
        with server:
            client.close()
            assert server.recv(1) == b""
            assert not is_own_process(peer, server.getsockname())
