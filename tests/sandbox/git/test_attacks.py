"""Requests that no git makes: nothing leads to another repository, another host, or a second request."""

import pytest

from tests.sandbox.egress.internet import PUBLIC
from tests.sandbox.git.conftest import World
from tests.sandbox.git.git_host import HOST

pytestmark = pytest.mark.process

GIT = "git.parachute.internal"
ALLOWED = f"{HOST}/owner/boat"
REFS = "info/refs?service=git-upload-pack"


async def opened(world: World) -> None:
    await world.open()
    world.internet.names["evil.example.com"] = [[PUBLIC]]
    world.host.make("owner/boat.git")
    world.host.make("owner/secret.git")
    world.grants.allow(ALLOWED)


async def ask(world: World, path: str, method: str = "GET", headers: str = "", host: str = GIT, body: str = "") -> str:
    head = f"{method} http://{host}{path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n{body}"
    return (await world.ask(head.encode("latin-1"))).decode("latin-1")


ELSEWHERE = (
    f"/{HOST}/owner/boat.git/../secret.git/{REFS}",
    f"/{HOST}/owner/boat.git/%2e%2e/secret.git/{REFS}",
    f"/{HOST}/owner/boat.git%2f..%2fsecret.git/{REFS}",
    f"/{HOST}/owner/boat.git/./{REFS}",
    f"/{HOST}/owner//boat.git/{REFS}",
    f"/{HOST}/./owner/boat.git/{REFS}",
    f"/{HOST}/owner/boat.git\\..\\secret.git/{REFS}",
    f"/{HOST}/owner/boat.git;x/{REFS}",
    f"/{HOST}/owner/secret.git/{REFS}",
    f"/{HOST}/owner/boat/sub/{REFS}",
    f"/{HOST}/owner/BOAT/{REFS}",
    f"/{HOST}/owner/boat.git.git/{REFS}",
    f"/{HOST}:8443/owner/boat.git/{REFS}",
    f"/evil.example.com/{HOST}/owner/boat/{REFS}",
    f"/user@user@{HOST}/owner/boat.git/{REFS}",
    f"/ssh@{HOST}:22:22/owner/boat.git/{REFS}",
    f"/ssh@evil.example.com/{HOST}/owner/boat/{REFS}",
    f"/{HOST}@evil.example.com/owner/boat.git/{REFS}",
    f"/git@evil.example.com:owner/boat.git/{REFS}",
    f"/git@{HOST}:/owner/boat.git/{REFS}",
    f"/[::1]/owner/boat.git/{REFS}",
    f"/127.0.0.1/owner/boat.git/{REFS}",
    f"/localhost/owner/boat.git/{REFS}",
    f"//{HOST}/owner/boat.git/{REFS}",
    f"/{HOST}/{REFS}",
    f"/{HOST}/.git/{REFS}",
)
NOT_SMART = (
    ("GET", f"/{ALLOWED}.git/HEAD"),
    ("GET", f"/{ALLOWED}.git/info/refs"),
    ("GET", f"/{ALLOWED}.git/{REFS}&service=git-receive-pack"),
    ("GET", f"/{ALLOWED}.git/info/refs?service=git-upload-archive"),
    ("GET", f"/{ALLOWED}.git/info/refs?x=1&service=git-upload-pack"),
    ("GET", f"/{ALLOWED}.git/git-upload-pack"),
    ("POST", f"/{ALLOWED}.git/{REFS}"),
    ("POST", f"/{ALLOWED}.git/git-upload-pack?x=1"),
    ("POST", f"/{ALLOWED}.git/info/lfs/objects/batch"),
    ("PUT", f"/{ALLOWED}.git/git-receive-pack"),
    ("DELETE", f"/{ALLOWED}"),
    ("HEAD", f"/{ALLOWED}.git/{REFS}"),
    ("GET", f"/{ALLOWED}/settings"),
)


async def test_no_path_leads_elsewhere(world: World) -> None:
    await opened(world)
    for path in ELSEWHERE:
        answer = await ask(world, path)
        assert answer.startswith(("HTTP/1.1 403", "HTTP/1.1 400")), (path, answer)
        assert world.internet.reached == [], path


async def test_nothing_but_smart_http_passes(world: World) -> None:
    await opened(world)
    for method, path in NOT_SMART:
        assert (await ask(world, path, method)).startswith("HTTP/1.1 403"), (method, path)
        assert world.internet.reached == [], (method, path)


async def test_a_connection_to_the_service_is_no_tunnel(world: World) -> None:
    await opened(world)
    for port in (80, 443):
        answer = await world.ask(f"CONNECT {GIT}:{port} HTTP/1.1\r\nHost: {GIT}:{port}\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 403")
    assert world.internet.reached == []


async def test_a_host_header_of_another_name_is_refused(world: World) -> None:
    await opened(world)
    for host in ("evil.example.com", HOST, f"{GIT}:81"):
        request = f"GET http://{GIT}/{ALLOWED}/{REFS} HTTP/1.1\r\nHost: {host}\r\n\r\n"
        assert (await world.ask(request.encode())).startswith(b"HTTP/1.1 400"), host
        assert world.internet.reached == [], host


TWO_LENGTHS = (
    "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    "Content-Length: 4\r\nContent-Length: 40\r\n",
    "Transfer-Encoding: chunked, identity\r\n",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "Content-Length : 4\r\n",
    " X: 1\r\n",
)


async def test_a_body_of_two_lengths_is_refused(world: World) -> None:
    await opened(world)
    for headers in TWO_LENGTHS:
        answer = await ask(world, f"/{ALLOWED}.git/git-upload-pack", "POST", headers, body="0\r\n\r\n")
        assert not answer.startswith("HTTP/1.1 200"), headers
        assert world.host.heard == [], headers


async def test_a_first_request_with_a_body_is_refused(world: World) -> None:
    await opened(world)
    for header in ("Content-Length: 4", "Transfer-Encoding: chunked", "Expect: 100-continue"):
        answer = await ask(world, f"/{ALLOWED}.git/{REFS}", headers=f"{header}\r\n", body="GET ")
        assert answer.startswith("HTTP/1.1 400"), header
        assert world.internet.reached == [], header


async def test_what_follows_a_request_is_no_second_one(world: World) -> None:
    await opened(world)
    second = f"GET http://{GIT}/{HOST}/owner/secret/{REFS} HTTP/1.1\r\nHost: {GIT}\r\n\r\n"
    answer = await ask(world, f"/{ALLOWED}.git/{REFS}", body=second * 2)
    assert answer.count("HTTP/1.1 ") == 1
    assert [path for path, _ in world.host.heard] == [f"GET /owner/boat.git/{REFS}"]


async def test_a_user_name_and_a_password_of_a_remote_count_for_nothing(world: World) -> None:
    await opened(world)
    answer = await ask(world, f"/ada:stolen@{ALLOWED}.git/{REFS}")
    assert answer.startswith("HTTP/1.1 200 OK")
    ((path, heard),) = world.host.heard
    assert path == f"GET /owner/boat.git/{REFS}"
    assert "stolen" not in str(heard)


async def test_headers_that_are_not_gits_stay_here(world: World) -> None:
    await opened(world)
    added = "Authorization: Basic c3RvbGVu\r\nCookie: a=b\r\nX-Forwarded-Host: evil.example.com\r\nX-HTTP-Method-Override: PUT\r\n"
    added += "Connection: Authorization, close\r\nForwarded: host=evil\r\nGit-Protocol: version=2\r\n"
    answer = await ask(world, f"/{ALLOWED}.git/{REFS}", headers=added)
    assert answer.startswith("HTTP/1.1 200 OK")
    assert "set-cookie" not in answer.lower()
    ((_, heard),) = world.host.heard
    assert heard.keys() == {"host", "authorization", "git-protocol", "connection"}
    assert heard["authorization"] != "Basic c3RvbGVu"
