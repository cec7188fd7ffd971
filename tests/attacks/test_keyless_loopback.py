"""Without a key only the owner's own programs call from this machine (S4)."""

import socket
from typing import Any

import pytest

from parachute.security.keys.service import Keys
from tests.support.another_user import asked, needs_root, started
from tests.support.making import Make
from tests.support.server import Server

pytestmark = needs_root

_FORWARDER = """
import os, socket, sys, threading
assert os.getuid() == 65534
def pass_on(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    near, _ = listener.accept()
    far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    threading.Thread(target=pass_on, args=(near, far), daemon=True).start()
    threading.Thread(target=pass_on, args=(far, near), daemon=True).start()
"""
_CALLS = (
    ("GET", "/api/chat"),
    ("POST", "/api/chat"),
    ("GET", "/api/auth/keys"),
    ("POST", "/api/auth/keys"),
    ("PUT", "/api/provider"),
    ("GET", "/supervisor/status"),
    ("POST", "/supervisor/server/stop"),
)


@pytest.fixture(scope="module")
def server(make_shared_server: Make[Server]) -> Server:
    """A server without any key."""
    return make_shared_server()


def test_another_user_gets_nothing_without_a_key(server: Server) -> None:
    answers = asked("127.0.0.1", server.port, *_CALLS, body='{"message": "hi"}')
    assert [status for status, _ in answers] == [401] * len(_CALLS)
    assert {answer["key"] for _, answer in answers} == {"key_needed"}
    assert "another user" in answers[0][1]["detail"]


def test_another_user_sees_that_the_computer_is_there(server: Server) -> None:
    [(status, answer)] = asked("127.0.0.1", server.port, ("GET", "/api/health?detailed=true"))
    assert (status, set(answer)) == (200, {"status", "version"})


def test_another_user_comes_in_with_a_key(server: Server) -> None:
    _, secret = Keys(server.home.root).create("neighbour")
    key: dict[str, Any] = {"x-api-key": secret}
    answers = asked("127.0.0.1", server.port, ("GET", "/api/chat"), **key)
    assert [status for status, _ in answers] == [200]


async def test_the_owner_needs_no_key_on_one_connection_or_on_many(server: Server) -> None:
    async with server.client() as client:
        assert [(await client.get("/api/chat")).status_code for _ in range(3)] == [200, 200, 200]
    async with server.client() as client:
        assert (await client.get("/api/chat")).status_code == 200


def test_a_plain_forwarder_of_another_user_is_not_the_owner(server: Server) -> None:
    forwarder = started(_FORWARDER, str(server.port))
    try:
        assert forwarder.stdout is not None
        port = int(forwarder.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            host = f"Host: 127.0.0.1:{server.port}"
            stranger.sendall(f"GET /api/chat HTTP/1.1\r\n{host}\r\n\r\n".encode())
            assert stranger.recv(65536).startswith(b"HTTP/1.1 401")
    finally:
        forwarder.kill()
        forwarder.communicate()


def test_the_next_connection_from_the_same_port_is_looked_at_anew(server: Server) -> None:
    with socket.socket() as held, socket.socket() as mine:
        for each in (held, mine):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))  # nobody is given this port as long as it is open
        port = held.getsockname()[1]
        mine.bind(("127.0.0.1", port))
        mine.connect(("127.0.0.1", server.port))
        mine.sendall(f"GET /api/chat HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        assert mine.recv(65536).startswith(b"HTTP/1.1 200")
        # Reset instead of closed: the port is free at once.
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        mine.close()
        script = """
import socket, sys
here, there = int(sys.argv[1]), int(sys.argv[2])
theirs = socket.socket()
theirs.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
theirs.bind(("127.0.0.1", here))
theirs.connect(("127.0.0.1", there))
theirs.sendall(f"GET /api/chat HTTP/1.1\\r\\nHost: 127.0.0.1:{there}\\r\\n\\r\\n".encode())
print(theirs.recv(65536).decode().split()[1])
"""
        output, _ = started(script, str(port), str(server.port)).communicate(timeout=60)
        assert output.strip() == "401"
