"""Signing in to servers elsewhere: with a real authorization server, and with some that say what they may not."""

import asyncio
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from parachute.base.errors import NotFound, ParachuteError, Unavailable
from parachute.capabilities.mcp_servers.inbox import SIGN_IN, McpServersSource
from parachute.capabilities.mcp_servers.logins.service import Callback
from parachute.capabilities.mcp_servers.models import NeedsLogin
from parachute.events.inbox.api import shown_item
from parachute.events.inbox.models import Answer
from tests.capabilities.mcp_servers.hostile_server import harmless, hostile_server
from tests.capabilities.mcp_servers.remote_servers import (
    RemoteServer,
    RemoteServers,
    browse,
    no_session,
    remote_server,
    remote_servers,
)
from tests.support.errors import raises
from tests.support.waiting import SECONDS


@pytest.fixture(scope="module")
def server() -> Iterator[RemoteServer]:
    """A server at which one signs in."""
    yield from remote_server(oauth=True)


@pytest.fixture
async def servers(tmp_path: Path, server: RemoteServer) -> AsyncIterator[RemoteServers]:
    """An installation with that server, where nobody has signed in."""
    async with remote_servers(tmp_path) as made:
        made.put("notes", server.url)
        yield made


def status(servers: RemoteServers) -> str:
    """The status of the server."""
    return servers.service.statuses.of(servers.catalog.get("notes"))[0]


@pytest.mark.long
async def test_signing_in_and_out(servers: RemoteServers, server: RemoteServer) -> None:
    assert status(servers) == "untested"
    with pytest.raises(NeedsLogin):
        await servers.service.call("notes", "act", {})
    assert status(servers) == "needs_login"
    _, ((_, warning),) = await servers.service.offered("all", None)
    assert "wants you to sign in" in warning
    await servers.sign_in("notes")
    assert await servers.service.call("notes", "act", {}) == "Noted: nothing"
    assert status(servers) == "connected"
    assert servers.catalog.get("notes").is_signed_in
    assert await servers.service.call("notes", "echo", {"headers": "authorization"}) == '"Bearer …"'
    tools, warnings = await servers.service.offered("all", None)
    assert (len(tools), warnings) == (2, ())
    file = servers.home.root / "mcp-logins.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    tokens = servers.catalog.logins.secrets()
    assert len(tokens) == 2
    assert set(tokens) <= set(server.control()["tokens"])
    assert not any(token in servers.file.read_text() for token in tokens)
    await servers.restart()
    assert await servers.service.call("notes", "act", {}) == "Noted: nothing"
    assert await servers.service.logout("notes")
    assert not await servers.service.logout("notes")
    assert not servers.catalog.get("notes").is_signed_in
    assert servers.catalog.logins.secrets() == ()
    with pytest.raises(NeedsLogin):
        await servers.service.call("notes", "act", {})
    await servers.audit.close()
    audited = "".join(path.read_text() for path in (servers.folder / "audit").glob("*.jsonl"))
    assert all(word in audited for word in ('"mcp_login"', '"mcp_logout"', "CONNECT 127.0.0.1"))
    assert not any(token in audited for token in tokens)


async def test_an_answer_from_before_the_login_does_not_end_it(servers: RemoteServers, server: RemoteServer) -> None:
    server.control("hold")
    early = asyncio.create_task(servers.service.offer("notes"))
    await asyncio.to_thread(server.control, "held")
    await servers.sign_in("notes")
    server.control("release")
    assert len((await servers.service.offer("notes")).tools) == 2
    assert len((await early).tools) == 2
    assert servers.catalog.get("notes").is_signed_in


async def test_a_refusal_from_before_the_login_does_not_end_it(servers: RemoteServers) -> None:
    runnable = servers.catalog.runnable("notes")
    await servers.sign_in("notes")
    assert isinstance(await servers.service.remote.logins.wanted(runnable, None), NeedsLogin)
    assert servers.catalog.get("notes").is_signed_in


async def test_a_token_that_has_died_is_refreshed_once_for_all_calls(
    servers: RemoteServers, server: RemoteServer
) -> None:
    await servers.sign_in("notes")
    assert await servers.service.call("notes", "act", {}) == "Noted: nothing"
    for _ in range(2):
        before = server.control("expire")["refreshes"]
        said = await asyncio.gather(*(servers.service.call("notes", "act", {"text": str(n)}) for n in range(8)))
        assert said == [f"Noted: {n}" for n in range(8)]
        assert server.control()["refreshes"] == before + 1
    await servers.restart()
    server.control("expire")
    assert await servers.service.call("notes", "act", {}) == "Noted: nothing"
    assert server.control("revoke")["tokens"] == []
    with pytest.raises(NeedsLogin):
        await servers.service.call("notes", "act", {})
    assert (status(servers), servers.catalog.logins.secrets()) == ("needs_login", ())
    await servers.sign_in("notes")
    assert await servers.service.call("notes", "act", {}) == "Noted: nothing"


@pytest.mark.long
async def test_tokens_that_live_for_a_second(tmp_path: Path) -> None:
    with RemoteServer(oauth=True, lives=1) as server:
        async with remote_servers(tmp_path) as servers:
            servers.put("notes", server.url)
            await servers.sign_in("notes")
            refreshes = 0
            while refreshes < 2:
                assert await servers.service.call("notes", "act", {}) == "Noted: nothing"
                refreshes = server.control()["refreshes"]


async def test_a_login_is_for_one_address(servers: RemoteServers) -> None:
    await servers.sign_in("notes")
    async with hostile_server(harmless) as other:
        servers.put("notes", other.url)
        assert await servers.service.call("notes", "act", {}) == "done"
        assert other.asked
        assert not any("authorization" in each.headers for each in other.asked)


async def test_a_state_is_good_for_once_and_for_who_began(servers: RemoteServers) -> None:
    logins = servers.service.remote.logins
    pending = await servers.service.begin_login_here("notes")
    arrived = Callback.parse(browse(pending.link))
    for wrong in (Callback("", arrived.code), Callback("x" * 43, arrived.code)):
        with pytest.raises(NotFound):
            await logins.finish(wrong)
    assert await logins.finish(arrived) == "notes"
    with pytest.raises(NotFound):
        await logins.finish(arrived)
    pending = await servers.service.begin_login_here("notes")
    arrived = Callback.parse(browse(pending.link))
    with raises("wrong_issuer"):
        await logins.finish(Callback(arrived.state, arrived.code, "https://evil.example.org"))
    with pytest.raises(NotFound):
        await logins.finish(arrived)
    with raises("sign_in_refused"):
        await logins.finish(
            Callback((await servers.service.begin_login_here("notes")).state, None, None, "access_denied")
        )
    first = await servers.service.begin_login_here("notes")
    await servers.service.begin_login_here("notes")
    with pytest.raises(NotFound):  # whoever begins again does not go on with the one before
        await logins.finish(Callback.parse(browse(first.link)))


async def test_a_link_of_the_inbox_ends_nothing_that_somebody_has_begun(servers: RemoteServers) -> None:
    begun = await servers.service.begin_login_here("notes")
    assert await servers.service.begin_login_here("notes", unasked=True) == begun
    assert await servers.service.remote.logins.finish(Callback.parse(browse(begun.link))) == "notes"


async def test_what_the_link_says(servers: RemoteServers, server: RemoteServer) -> None:
    pending = await servers.service.begin_login_here("notes")
    fields = {name: value for name, (value,) in parse_qs(urlsplit(pending.link).query).items()}
    assert (fields["response_type"], fields["code_challenge_method"]) == ("code", "S256")
    assert (fields["resource"], fields["scope"]) == (server.url, "notes")
    assert fields["redirect_uri"] == "http://127.0.0.1:3333/api/mcps/oauth/callback"
    clients = server.control()["clients"]
    await servers.service.begin_login_here("notes")
    assert server.control()["clients"] == clients  # this computer is known there already


async def test_what_waits_is_in_the_inbox_with_a_link(servers: RemoteServers) -> None:
    source = McpServersSource(servers.service, no_session)
    assert await source.items() == []
    changes = servers.changes
    with pytest.raises(NeedsLogin):
        await servers.service.call("notes", "act", {})
    assert changes.is_set()

    async def link() -> str | None:
        changes.clear()
        (item,) = await source.items()
        assert (item.title, item.is_owners) == ("notes wants you to sign in", True)
        assert item.link is None or item.link not in str(shown_item(item, may_answer=False))
        return item.link

    async with asyncio.timeout(SECONDS):
        while (first := await link()) is None:
            await changes.wait()
    (item,) = await source.items()
    await source.answer(item, Answer(SIGN_IN, "the owner"))
    second = await link()
    assert second not in (None, first)
    await servers.service.remote.logins.finish(Callback.parse(browse(second or "")))
    assert await source.items() == []


async def test_a_screen_hears_once_that_a_server_wants_a_login(servers: RemoteServers) -> None:
    for times in (1, 2):
        # A screen that hears of it asks again.
        for _ in range(2):
            with pytest.raises(NeedsLogin):
                await servers.service.offer("notes")
        assert servers.shown == [("notes", "needs_login")] * times, "the list says so already"
        await servers.sign_in("notes")
        assert await servers.service.logout("notes")


async def test_nobody_signs_in_where_everybody_is_let_in(servers: RemoteServers) -> None:
    async with hostile_server(harmless) as other:
        servers.put("open", other.url)
        with pytest.raises(ParachuteError) as refused:
            await servers.service.begin_login_here("open")
        assert refused.value.key == "no_login_needed"


async def test_a_server_that_is_gone_or_removed(servers: RemoteServers) -> None:
    with RemoteServer(oauth=True) as other:
        servers.put("other", other.url)
        await servers.sign_in("other")
        assert await servers.service.call("other", "act", {}) == "Noted: nothing"
        other.control("expire")
    with pytest.raises(Unavailable):
        await servers.service.call("other", "act", {})
    assert len(servers.catalog.logins.secrets()) == 2  # it may come back
    await servers.service.remove("other")
    assert servers.catalog.logins.secrets() == ()


async def test_a_file_of_logins_that_cannot_be_read(servers: RemoteServers) -> None:
    (servers.home.root / "mcp-logins.json").write_text("{")
    with raises("server_cannot_run"):
        await servers.service.call("notes", "act", {})
