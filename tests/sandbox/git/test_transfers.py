"""git itself behind the proxy: clone, fetch and push, and what it prints where something is refused."""

import asyncio
import os
import threading

import psutil
import pytest

from tests.sandbox.egress.conftest import SECONDS
from tests.sandbox.egress.internet import PUBLIC
from tests.sandbox.git.conftest import World
from tests.sandbox.git.git_host import HOST, TOKEN, run_git
from tests.support.waiting import until

pytestmark = pytest.mark.process

REPOSITORY = f"{HOST}/owner/boat"
URL = f"https://{REPOSITORY}.git"


async def cloned(world: World) -> None:
    world.host.make("owner/boat.git")
    await world.open()
    world.grants.allow(REPOSITORY)
    await world.works("clone", "--quiet", URL, "boat")


async def test_clone_fetch_and_push_with_the_token_that_stays_outside(world: World) -> None:
    world.host.make("owner/boat.git")
    await world.open()
    world.grants.allow(REPOSITORY)
    for number, url in enumerate((URL, f"git@{HOST}:owner/boat.git", f"ssh://git@{HOST}:22/owner/boat.git")):
        tree = world.home / f"boat{number}"
        await world.works("clone", "--quiet", url, tree.name)
        assert (tree / "hello.txt").read_text() == "hello\n"
        assert url in (tree / ".git" / "config").read_text()
        # The first is more than git keeps in memory: it is sent in chunks.
        (tree / f"sail{number}.txt").write_bytes(os.urandom(100 if number else 3 << 20))
        await world.works("add", ".", at=tree)
        await world.works("commit", "--quiet", "--message=Sail", at=tree)
        await world.works("push", "--quiet", "origin", "HEAD:main", at=tree)
        assert world.host.log("owner/boat.git") == "Sail\n" * (number + 1) + "First\n"
        await world.works("fetch", "--quiet", "origin", at=tree)
    for _, headers in world.host.heard:
        assert headers["authorization"].startswith("Basic ")
        assert headers["host"] == HOST
    audited = [(each["event_type"], each["target_endpoint"], each["success"]) for each in await world.audited()]
    assert any(kind == "git" and f"fetch {REPOSITORY}: " in what and well for kind, what, well in audited)
    assert any(f"push {REPOSITORY}: 3,1" in what and "bytes sent" in what for _, what, _ in audited)
    everywhere = "".join(path.read_text() for path in world.folder.glob("audit/*"))
    assert TOKEN not in everywhere


async def test_protocol_version_2_and_compressed_requests_pass(world: World) -> None:
    world.host.make("owner/boat.git")
    tree = world.host.folder.parent / "tree" / "owner" / "boat.git"
    made = [  # wants and haves of more than a kilobyte are compressed
        f"commit refs/tags/tag-{number}\ncommitter Test <test@example.org> {number} +0000\ndata 0\n"
        + ("from refs/heads/main\n" if number == 0 else f"from refs/tags/tag-{number - 1}\n")
        for number in range(40)
    ]
    run_git("fast-import", "--quiet", at=tree, given="\n".join(made).encode())
    run_git("push", "--quiet", "--tags", str(world.host.folder / "owner/boat.git"), "main", at=tree)
    await world.open()
    world.grants.allow(REPOSITORY, "fetch")
    await world.works("clone", "--quiet", URL, "boat")
    assert any(headers.get("content-encoding") == "gzip" for _, headers in world.host.heard)
    assert all(headers["git-protocol"] == "version=2" for _, headers in world.host.heard)


async def test_a_public_repository_needs_no_token(world: World) -> None:
    world.host.make("owner/boat.git")
    world.host.public.add("owner/boat.git")
    await world.open()
    world.tokens.remove(HOST)
    world.grants.allow(REPOSITORY)
    await world.works("clone", "--quiet", URL, "boat")
    assert all("authorization" not in headers for _, headers in world.host.heard)
    said = await world.fails("push", "origin", "HEAD:other", at=world.home / "boat")
    assert f"remote: {HOST} wants a credential to push to {REPOSITORY}" in said
    assert "parachute git token set" in said


async def test_what_is_not_allowed_is_refused_with_a_sentence_and_reaches_nobody(world: World) -> None:
    world.host.make("owner/boat.git")
    await world.open()
    said = await world.fails("clone", URL, "boat")
    assert f"remote: The owner was asked about fetch {REPOSITORY}." in said
    world.grants.allow(REPOSITORY, "fetch")
    await world.works("clone", "--quiet", URL, "boat")
    heard = len(world.host.heard)
    said = await world.fails("push", "origin", "HEAD:other", at=world.home / "boat")
    assert f"remote: The owner was asked about push {REPOSITORY}." in said
    assert len(world.host.heard) == heard
    assert world.grants.asked == [(REPOSITORY, "fetch"), (REPOSITORY, "push")]


async def test_a_host_that_is_allowed_is_reached_without_the_token(world: World) -> None:
    world.host.make("owner/boat.git")
    world.host.make("owner/open.git")
    world.host.public.add("owner/open.git")
    await world.open(HOST)
    await world.works("clone", "--quiet", f"https://{HOST}/owner/open.git", "open")
    assert all("authorization" not in headers for _, headers in world.host.heard)
    assert world.grants.asked == []
    said = await world.fails("clone", URL, "boat")  # a private one: with the owner's token, if the owner says so
    assert f"remote: The owner was asked about fetch {REPOSITORY}." in said
    world.grants.decided[f"{HOST}/owner/open", "fetch"] = "refused"
    await world.fails("clone", f"https://{HOST}/owner/open.git", "again")


REDIRECTS = (
    ("https://evil.example.com/owner/boat/info/refs?service=git-upload-pack", "https://evil.example.com/owner/boat "),
    ("https://words:more@evil.example.com/a/b", "use https://evil.example.com/a/b as"),
    ("/owner/boat.git/info/refs?service=git-upload-pack", f"use {URL} as the address"),
    ("https://evil.example.com/%0aterminal", "which is not followed"),
    ("http://169.254.169.254/", "which is not followed"),
)


async def test_a_redirect_is_named_and_not_followed(world: World) -> None:
    await world.open()
    world.internet.names["evil.example.com"] = [[PUBLIC]]
    world.grants.allow(REPOSITORY)
    for asked, (location, said) in enumerate(REDIRECTS, 1):
        world.host.answers["/owner/boat/info/refs"] = 301, {"Location": location}, b""
        output = await world.fails("clone", f"https://{REPOSITORY}", "boat")
        assert f"remote: {REPOSITORY} redirects elsewhere, which is not followed." in output
        assert said in output
        assert len(world.host.heard) == asked
        assert world.internet.lookups == [HOST] * asked


async def test_a_wrong_token_is_a_sentence_without_it(world: World) -> None:
    world.host.make("owner/boat.git")
    await world.open()
    world.tokens.set(HOST, "another-token-of-the-owner")
    world.grants.allow(REPOSITORY)
    said = await world.fails("clone", URL, "boat")
    assert f"remote: {HOST} does not accept the token" in said
    assert "another-token" not in said


async def test_an_error_of_the_host_repeats_nothing_that_it_was_sent(world: World) -> None:
    await world.open()
    world.grants.allow(REPOSITORY)
    for status, headers, said in (
        (403, {}, "does not let the owner's token fetch from"),
        (404, {}, "or none that the owner's token may see"),
        (500, {}, "did not answer as a git server: status 500"),
        (200, {"Content-Type": "text/html"}, "did not answer as a git server: status 200"),
    ):
        world.host.answers["/owner/boat.git/info/refs"] = status, headers, f"You sent {TOKEN}".encode()
        output = await world.fails("clone", URL, "boat")
        assert said in output
        assert TOKEN not in output


async def test_git_shows_also_what_fails_after_the_first_request(world: World) -> None:
    await cloned(world)
    tree = world.home / "boat"
    await world.works("commit", "--quiet", "--allow-empty", "--message=Sail", at=tree)
    for service in ("receive", "upload"):
        world.host.answers[f"/owner/boat.git/git-{service}-pack"] = 413, {}, b"too large"
    said = f"{HOST} did not answer as a git server: status 413."
    assert f"remote: {said}" in await world.fails("push", "origin", "HEAD:main", at=tree)
    assert f"fatal: remote error: {said}" in await world.fails("fetch", "origin", at=tree)


async def test_a_host_that_stalls_ends_in_an_error(world: World) -> None:
    await world.open(idle_seconds=0.5)
    world.grants.allow(REPOSITORY)
    world.host.silent.add("/owner/boat.git/info/refs")
    assert f"{HOST}:443 was silent for too long" in await world.fails("clone", URL, "boat")


async def test_a_certificate_of_another_host_is_refused(world: World) -> None:
    await world.open()
    world.internet.names["other.example.org"] = [[PUBLIC]]
    world.grants.allow("other.example.org/owner/boat")
    said = await world.fails("clone", "https://other.example.org/owner/boat", "boat")
    assert "The certificate of other.example.org:443 is not trusted" in said
    assert world.host.heard == []


async def test_a_machine_at_home_is_reached_only_by_a_name_of_home(world: World) -> None:
    await world.open()
    world.internet.names |= {"trap.example.org": [["192.168.7.2"]], "nas.local": [["192.168.7.2"]]}
    await world.internet.serve("192.168.7.2", 443, world.host.serve, world.host.authority.server("nas.local"))
    world.host.make("owner/boat.git")
    world.host.public.add("owner/boat.git")
    for host in ("trap.example.org", "nas.local", "192.168.7.2"):
        world.grants.allow(f"{host}/owner/boat")
    assert "a private address" in await world.fails("clone", "https://trap.example.org/owner/boat.git", "boat")
    await world.works("clone", "--quiet", "https://nas.local/owner/boat.git", "boat")
    assert "loopback" not in await world.fails("clone", "https://localhost/owner/boat.git", "own")
    world.internet.names["nas.local"] = [["127.0.0.1"]]
    assert "this machine" in await world.fails("clone", "https://nas.local/owner/boat.git", "own")


async def test_what_is_refused_meanwhile_is_broken_off(world: World) -> None:
    await world.open()
    world.grants.allow(REPOSITORY)
    world.host.silent.add("/owner/boat.git/info/refs")
    cloning = asyncio.create_task(world.fails("clone", URL, "boat"))
    await until(lambda: world.host.heard, "the host was asked")
    await world.egress.recheck("daily")
    assert not cloning.done()
    world.grants.decided[REPOSITORY, "fetch"] = "refused"
    await world.egress.recheck("daily")
    await cloning
    audited = await world.audited()
    assert any(each["error"] == "It was broken off." for each in audited if each["event_type"] == "git")


@pytest.mark.long
async def test_a_large_clone_takes_little_memory(world: World) -> None:
    world.host.make("owner/boat.git", {"large.bin": os.urandom(100 << 20)})
    await world.open()
    world.grants.allow(REPOSITORY, "fetch")
    before = psutil.Process().memory_info().rss
    most, ended = before, threading.Event()

    def watch() -> None:
        nonlocal most
        while not ended.wait(0.05):
            most = max(most, psutil.Process().memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        await world.works("clone", "--quiet", URL, "boat")
    finally:
        ended.set()
        await asyncio.to_thread(watching.join, SECONDS)
    assert (world.home / "boat" / "large.bin").stat().st_size == 100 << 20
    assert most - before < 40 << 20  # the test's host has its buffers in this process, too
