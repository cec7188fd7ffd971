"""A host that a conversation asks for appears in the inbox, is allowed there, and works at the second try."""

from collections.abc import Iterator

import pytest

from parachute.events.inbox.models import Answer
from parachute.security.keys.models import FULL_ACCESS, Caller
from tests.chat.agent_processes.core import core
from tests.chat.agent_processes.module_tools import Reading
from tests.chat.network.test_networks import hello
from tests.conftest import needs_bubblewrap
from tests.sandbox.egress.internet import PUBLIC, Internet
from tests.supervisor.launching import Launcher, launcher
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long

FETCH = "python3 -c \"import urllib.request as r; print(r.urlopen('http://api.example.org/', timeout=60).read().decode())\" 2>&1"


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    with launcher() as running:
        yield running


@needs_bubblewrap
async def test_the_second_try_works(supervisor: Launcher, api: MessagesAPI) -> None:
    internet = Internet()
    await internet.serve(PUBLIC, 80, hello)
    fetch = tool_use("Bash", {"command": FETCH})
    api.script(fetch, text("Refused."), fetch, text("Read."))
    async with core(supervisor, api.url, Reading(), internet=internet) as made:
        first = await made.answered("Read that page.")
        assert "The Owner Was Asked" in first.result[1]
        (item,) = (await made.inbox.page()).items
        assert (item.kind, item.title, item.session) == ("host", "Reach api.example.org", first.session)
        owner = Caller("key", "phone", FULL_ACCESS)
        await made.inbox.answer(item.id, item.hash, Answer("once", "phone"), owner, is_owner=True)
        second = await made.answered("Try again.", first.session)
        assert "hello from outside" in second.result[1]
        assert (await made.inbox.page()).items == ()
        system = str(api.conversation[0].body["system"])
        assert "Any other host is refused at first" in system
        audited = await made.audited()
    await internet.close()
    assert "GET api.example.org:80" in audited
    assert "once host:" in audited


@needs_bubblewrap
async def test_a_page_of_a_host_that_nobody_allowed_is_refused_with_the_way_to_ask(
    supervisor: Launcher, api: MessagesAPI
) -> None:
    async def leaves(*_: object) -> None:
        """Open a connection without TLS."""

    internet = Internet()
    await internet.serve(PUBLIC, 443, leaves)
    fetch = tool_use("WebFetch", {"url": "https://api.example.org/boat?x=1", "prompt": "What is it?"})
    api.script(fetch, text("Refused."), fetch, text("Nobody speaks."))
    async with core(supervisor, api.url, Reading(), internet=internet) as made:
        first = await made.answered("Read that page.")
        is_error, said = first.result
        assert is_error
        assert "api.example.org is not allowed yet. The owner has been asked (`parachute inbox`)." in said
        assert "try again once it is allowed" in said
        assert internet.lookups == []
        (item,) = (await made.inbox.page()).items
        assert (item.kind, item.title) == ("host", "Reach api.example.org")
        owner = Caller("key", "phone", FULL_ACCESS)
        await made.inbox.answer(item.id, item.hash, Answer("always", "phone"), owner, is_owner=True)
        await made.answered("Try again.", first.session)
        assert set(internet.reached) == {(PUBLIC, 443)}
        audited = await made.audited()
    await internet.close()
    assert "CONNECT api.example.org:443" in audited
    assert "/boat" not in audited
