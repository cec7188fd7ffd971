"""Clients whose codes and tokens are shown twice at once, and a file that cannot be read or written."""

import asyncio
from datetime import date, timedelta
from pathlib import Path

import pytest

from parachute.security.mcp_clients.models import Asked, Code, Limits
from parachute.security.mcp_clients.service import McpClients
from parachute.security.mcp_clients.store import FILE
from tests.support.errors import raises

USED, OTHER = "https://used.example/back", "https://known.example/back"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A state directory."""
    made = tmp_path / "state"
    made.mkdir(mode=0o700)
    return made


def limits() -> Limits:
    """Everything until tomorrow."""
    last = date.today() + timedelta(days=1)
    return Limits(("daily-search",), ("*",), ("*",), ("*",), None, None, last, 1000)


def code(clients: McpClients) -> tuple[str, Code, str]:
    """A code that was just taken: (code, what it means, the id of its client)."""
    client = clients.registrations.add("client", "Reader", [OTHER, USED], None)
    resource = "http://localhost/mcp"
    asked = Asked("", client, resource, "http://localhost", USED, True, "x" * 43, None, (), 0)
    _, made = clients.codes.agree(clients.codes.ask(asked).id, limits())
    taken = clients.codes.take(made, client.id)
    assert taken is not None
    return made, taken, client.id


async def test_a_code_that_is_shown_again_while_its_grant_is_made_ends_that(root: Path) -> None:
    clients = McpClients(root)
    made, taken, client = code(clients)
    first = asyncio.create_task(clients.redeem(taken))
    await asyncio.sleep(0)
    assert clients.codes.take(made, client) is None
    assert clients.codes.grant_of_taken(made, client) is None
    with raises("code_shown_twice"):
        await first
    assert clients.list() == ()
    assert McpClients(root).list() == ()


async def test_one_of_two_that_renew_at_once_gets_tokens_and_the_other_is_known_to_have_a_copy(root: Path) -> None:
    clients = McpClients(root)
    _, taken, client = code(clients)
    issued = await clients.redeem(taken)
    grant = clients.of_refresh(issued.refresh, client)
    assert grant is not None
    both = await asyncio.gather(clients.renew(grant, issued.refresh), clients.renew(grant, issued.refresh))
    assert [each is None for each in both] == [False, True]
    assert clients.of_spent(issued.refresh, client) is not None
    assert clients.authenticate(issued.access) is None


async def test_the_address_to_which_the_browser_went_stands_first(root: Path) -> None:
    clients = McpClients(root)
    _, taken, _ = code(clients)
    await clients.redeem(taken)
    assert clients.list()[0].client.redirects == (USED, OTHER)


async def test_what_ends_holds_at_once_also_where_the_disk_fails(root: Path) -> None:
    clients = McpClients(root)
    _, taken, client = code(clients)
    issued = await clients.redeem(taken)
    (grant,) = clients.list()
    (root / FILE).rename(root / "kept")
    (root / FILE).mkdir()
    with pytest.raises(OSError, match=FILE):
        await clients.end(grant.id)
    assert clients.authenticate(issued.access) is None
    assert clients.of_refresh(issued.refresh, client) is None
    assert not clients.holds(grant.id)


@pytest.mark.parametrize("length", [0, 1, 200])
async def test_a_file_that_is_cut_off_lets_none_in_and_is_told_without_its_place(root: Path, length: int) -> None:
    before = McpClients(root)
    _, taken, _ = code(before)
    issued = await before.redeem(taken)
    (root / FILE).write_bytes(cut := (root / FILE).read_bytes()[:length])
    clients = McpClients(root)
    with raises("mcp_clients_unreadable") as found:
        clients.authenticate(issued.access)
    assert str(root) not in str(found.value)
    with raises("mcp_clients_unreadable"):
        await clients.redeem(taken)
    with raises("mcp_clients_unreadable"):
        await clients.end("any")
    assert (root / FILE).read_bytes() == cut
