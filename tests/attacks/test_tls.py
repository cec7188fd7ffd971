"""TLS on the port of HTTP: what a stranger sends on it, who somebody is there, and certificates that change meanwhile."""

import contextlib
import hashlib
import http.client
import json
import plistlib
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from parachute.security.keys.service import Keys
from tests.support.another_user import asked, needs_root
from tests.support.authority import signed
from tests.support.computer import Computer
from tests.support.making import Make

OWN = "notes.example.org"
HEALTH = b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
"""The beginning of a handshake."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of the owner's for a name of their own."""
    return signed(None, tmp_path_factory.mktemp("own") / "own.pem", OWN, "*.cloud.example")


@pytest.fixture(scope="module")
def https(make_shared_computer: Make[Computer], own: Path) -> Computer:
    """A computer that answers https, and has a key."""
    tls = {"enabled": True, "certificate": str(own)}
    computer = make_shared_computer(tls=tls, hostnames=["parachute.local", OWN])
    computer.wait_until(lambda: state(computer)["ready"], "there is a certificate")
    return computer


def plain(computer: Computer, path: str, method: str = "GET", body: object = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", computer.port, timeout=60)
    with contextlib.closing(connection):
        headers = {"content-type": "application/json"}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = connection.getresponse()
        return response.status, response.read()


def state(computer: Computer) -> Any:
    return json.loads(plain(computer, "/api/tls")[1])


def trusting(computer: Computer) -> ssl.SSLContext:
    """Return the TLS context of a device that trusts the computer."""
    return ssl.create_default_context(cadata=plain(computer, "/tls/ca.crt")[1].decode())


def opened(computer: Computer, name: str = "localhost", context: ssl.SSLContext | None = None) -> ssl.SSLSocket:
    raw = socket.create_connection(("127.0.0.1", computer.port), timeout=60)
    try:
        return (context or trusting(computer)).wrap_socket(raw, server_hostname=name)
    except BaseException:
        raw.close()
        raise


def secure(computer: Computer, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPSConnection("localhost", computer.port, timeout=60, context=trusting(computer))
    with contextlib.closing(connection):
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        assert response.getheader("strict-transport-security") is None, "the app comes without TLS"
        text = response.read()
    return response.status, json.loads(text) if text else None


def to_the_end(connection: socket.socket) -> bytes:
    found = b""
    with contextlib.suppress(ConnectionError):
        while data := connection.recv(65536):
            found += data
    return found


def certificate(connection: ssl.SSLSocket) -> bytes:
    shown = connection.getpeercert(binary_form=True)
    assert shown is not None
    return shown


def test_one_port_answers_both(https: Computer) -> None:
    assert plain(https, "/api/health")[0] == 200
    assert secure(https, "GET", "/api/health")[0] == 200
    for name in ("parachute.local", "127.0.0.1"):
        with opened(https, name) as connection:
            connection.sendall(HEALTH)
            assert to_the_end(connection).startswith(b"HTTP/1.1 200 ")
    with opened(https) as connection:
        assert connection.version() == "TLSv1.3"
        assert connection.selected_alpn_protocol() is None


def test_a_name_that_is_not_ours_is_refused_by_the_device(https: Computer) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        opened(https, "bank.example")


def test_old_versions_are_refused(https: Computer) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        context.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.raises(ssl.SSLError):
        opened(https, context=context)


def test_a_page_of_ours_may_call_and_another_may_not(https: Computer) -> None:
    origin = f"https://localhost:{https.port}"
    assert secure(https, "GET", "/api/chat", Origin=origin)[0] == 200
    assert secure(https, "GET", "/api/chat", Origin="https://bank.example")[1]["key"] == "origin_not_allowed"
    # http over our https is somebody in the middle: a scheme that was not noticed would let it in.
    of_nobody = secure(https, "GET", "/api/chat", Origin=origin.replace("https", "http"))
    assert of_nobody[1]["key"] == "origin_not_allowed"


def test_the_owner_is_known_by_the_process_and_a_proxy_is_not(https: Computer) -> None:
    assert secure(https, "GET", "/api/auth/keys")[0] == 200
    behind = secure(https, "GET", "/api/auth/keys", **{"X-Forwarded-For": "127.0.0.1"})
    assert (behind[0], behind[1]["key"]) == (401, "key_needed")
    assert secure(https, "GET", "/api/auth/keys", **{"X-API-Key": "para_wrong"})[1]["key"] == "wrong_key"


@needs_root
def test_another_user_of_the_machine_needs_a_key(https: Computer) -> None:
    calls = ("GET", "/api/chat"), ("GET", "/api/auth/keys"), ("POST", "/api/tls/renew")
    answers = asked("127.0.0.1", https.port, *calls, body="{}", tls=True)
    assert [(status, answer["key"]) for status, answer in answers] == [(401, "key_needed")] * 3
    keys = Keys(https.home.root)
    _, secret = keys.create("neighbour")
    keys.close()
    [(status, _)] = asked("127.0.0.1", https.port, calls[1], tls=True, **{"x-api-key": secret})
    assert status == 200


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16",
        b"\x16" * 70_000,
        HELLO + b"\0" * 70_000,
        b"\x16\x03\x01\xff\xff" + b"x" * 70_000,
        b"\x16 / HTTP/1.1\r\n\r\n",
    ],
    ids=["a byte", "many", "an endless hello", "too long a record", "http"],
)
def test_garbage_ends_its_own_connection_only(https: Computer, garbage: bytes) -> None:
    core = https.find_process("parachute.server").pid
    with socket.create_connection(("127.0.0.1", https.port), timeout=60) as stranger:
        with contextlib.suppress(ConnectionError):
            stranger.sendall(garbage)
            stranger.shutdown(socket.SHUT_WR)
        assert b"HTTP/1.1 200" not in to_the_end(stranger)
    assert secure(https, "GET", "/api/health")[0] == 200
    assert https.find_process("parachute.server").pid == core


def test_a_handshake_may_come_byte_by_byte(https: Computer) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting(https).wrap_bio(incoming, outgoing, server_hostname="localhost")
    with socket.create_connection(("127.0.0.1", https.port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def send() -> None:
            for byte in outgoing.read():
                connection.sendall(bytes((byte,)))

        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                send()
                incoming.write(connection.recv(7))
        tls.write(HEALTH)
        send()
        answer = b""
        while b'"status":"ok"' not in answer:
            try:
                answer += tls.read()
            except ssl.SSLWantReadError:
                incoming.write(connection.recv(7))


def test_a_thousand_half_handshakes_shut_nobody_out(https: Computer) -> None:
    core = https.find_process("parachute.server")
    with contextlib.ExitStack() as stack:
        for _ in range(1000):
            with contextlib.suppress(OSError):
                half = stack.enter_context(socket.create_connection(("127.0.0.1", https.port), timeout=60))
                half.sendall(HELLO)
        assert plain(https, "/api/health")[0] == 200
        assert secure(https, "GET", "/api/health")[0] == 200
        assert core.memory_info().rss < 300_000_000
    assert https.find_process("parachute.server").pid == core.pid


@pytest.mark.long  # its real time is ten seconds
@pytest.mark.parametrize("sent", [HELLO, b""], ids=["half a handshake", "no request after it"])
def test_the_handshake_is_part_of_the_time_for_a_header(https: Computer, sent: bytes) -> None:
    if sent:
        connection = socket.create_connection(("127.0.0.1", https.port), timeout=60)
        connection.sendall(sent)
    else:
        connection = opened(https)
    with connection:
        assert to_the_end(connection) == b""


def test_limits_are_those_of_what_was_sealed(https: Computer) -> None:
    with opened(https) as connection:
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            connection.sendall(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 200_000)
        with contextlib.suppress(ssl.SSLError):
            assert to_the_end(connection)[:13] in (b"HTTP/1.1 431 ", b"")
    with opened(https) as connection:
        connection.sendall(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n" + b"x: y\r\n" * 101 + b"\r\n")
        assert to_the_end(connection).startswith(b"HTTP/1.1 431 ")


def test_large_bodies_arrive_whole(https: Computer) -> None:
    text = "Grüße\n" * 200_000
    body = json.dumps({"path": "large.md", "content": text})
    written, answer = secure(https, "PUT", "/api/write", body, **{"Content-Type": "application/json"})
    assert (written, (https.vault / "large.md").read_text()) == (200, text), answer
    assert secure(https, "GET", "/api/read?path=large.md")[1]["content"] == text


def test_an_open_stream_outlives_a_renewal(https: Computer) -> None:
    hook = https.home.root / "hooks" / "on-session-start.sh"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o700)
    context = trusting(https)
    with opened(https, context=context) as stream:
        stream.sendall(b"GET /api/inbox/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
        said = ""
        while "on-session-start" not in said:
            said += stream.recv(65536).decode()
        assert secure(https, "POST", "/api/tls/renew", "{}", **{"Content-Type": "application/json"})[0] == 200
        with opened(https, context=context) as another:
            assert certificate(another) != certificate(stream), "the same authority, another certificate"
        [item] = json.loads(plain(https, "/api/inbox")[1])["items"]
        answer = {"id": item["id"], "hash": item["hash"], "answer": "approve", "values": {}}
        assert plain(https, "/api/inbox/answer", "POST", answer)[0] == 200
        while '"items": []' not in said and '"items":[]' not in said:
            said += stream.recv(65536).decode()


def test_a_name_of_ones_own_has_its_own_certificate(https: Computer, own: Path) -> None:
    trusted = ssl.create_default_context(cafile=str(own))
    for name in (OWN, "photos.cloud.example"):
        with opened(https, name, trusted) as connection:
            assert ssl.DER_cert_to_PEM_cert(certificate(connection)) in own.read_text()
    for name in ("a.b.cloud.example", "parachute.local", "127.0.0.1"):
        with pytest.raises(ssl.SSLCertVerificationError):
            opened(https, name, trusted)


def test_what_replaces_it_is_taken_without_a_restart(https: Computer, own: Path) -> None:
    before = state(https)["own"]["fingerprint"]
    signed(None, own, OWN, "*.cloud.example", days=80)
    assert plain(https, "/api/tls/renew", "POST", {})[0] == 200
    assert state(https)["own"]["fingerprint"] != before
    with opened(https, OWN, ssl.create_default_context(cafile=str(own))) as connection:
        assert certificate(connection)
    own.write_text("no certificate")
    plain(https, "/api/tls/renew", "POST", {})
    found = state(https)
    assert found["ready"]
    assert [str(own) in problem for problem in found["problems"]] == [True]
    assert secure(https, "GET", "/api/health")[0] == 200, "the home's own certificate is still there"
    signed(None, own, OWN, "*.cloud.example", days=80)
    assert plain(https, "/api/tls/renew", "POST", {})[0] == 200


def test_a_restart_of_the_server_answers_at_once(https: Computer) -> None:
    context = trusting(https)
    https.kill_core()
    with opened(https, context=context) as connection:
        connection.sendall(HEALTH)
        assert to_the_end(connection).startswith(b"HTTP/1.1 200 ")


def test_the_profile_for_apple_has_the_same_certificate(https: Computer) -> None:
    profile = plistlib.loads(plain(https, "/tls/ca.mobileconfig")[1])
    [payload] = profile["PayloadContent"]
    assert payload["PayloadType"] == "com.apple.security.root"
    assert payload["PayloadContent"] == ssl.PEM_cert_to_DER_cert(plain(https, "/tls/ca.crt")[1].decode())
    digits = hashlib.sha256(payload["PayloadContent"]).hexdigest().upper()
    assert state(https)["authority"]["fingerprint"].replace(" ", "") == digits


@needs_root
def test_strangers_may_look_and_are_told_of_no_files(https: Computer, own: Path) -> None:
    before = own.read_text()
    own.write_text("no certificate")
    assert plain(https, "/api/tls/renew", "POST", {})[0] == 200
    calls = ("GET", "/api/tls"), ("GET", "/tls"), ("GET", "/tls/ca.crt")
    answers = asked("127.0.0.1", https.port, *calls)
    assert [status for status, _ in answers] == [200] * 3
    assert answers[0][1]["problems"] == []
    assert len(state(https)["problems"]) == 1
    own.write_text(before)
    assert plain(https, "/api/tls/renew", "POST", {})[0] == 200
