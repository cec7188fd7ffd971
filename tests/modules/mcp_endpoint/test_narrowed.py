"""A grant that the owner narrows or ends while a tool works."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from parachute.base.clock import SYSTEM
from parachute.modules.mcp_endpoint.access import ByGrant, Outside
from parachute.modules.mcp_endpoint.receipts import Receipts
from parachute.modules.runtime.models import OfferedTool
from parachute.modules.runtime.service import Hosts
from parachute.security.audit.service import Audit
from parachute.security.mcp_clients.models import Asked, Limits
from parachute.security.mcp_clients.service import McpClients
from tests.support.errors import raises

LIMITS = Limits(
    ("daily-search",), ("*",), ("*",), ("*",), None, None, date.today() + timedelta(days=1), bytes_a_day=1000
)
TOOL = OfferedTool("daily", "daily-search", "Search", {}, reads_only=True)


class Working:
    """The hosts of modules, whose tool works until something has happened."""

    def __init__(self, happens: Callable[[], Awaitable[object]]) -> None:
        self._happens = happens

    async def call_tool(self, name: str, arguments: dict[str, Any], who: str) -> str:
        """Answer then."""
        await self._happens()
        return "[]"


async def call(root: Path, change: Callable[[McpClients, str], Awaitable[object]]) -> None:
    """Call a tool while a change is made."""
    root.chmod(0o700)
    clients = McpClients(root)
    client = clients.registrations.add("client", "Reader", ["https://a.example/"], None)
    asked = Asked("", client, "r", "i", "https://a.example/", True, "x" * 43, None, (), 0)
    _, code = clients.codes.agree(clients.codes.ask(asked).id, LIMITS)
    taken = clients.codes.take(code, client.id)
    assert taken is not None
    await clients.redeem(taken)
    grant = clients.list()[0].id

    async def nowhere(_: str) -> str | None:
        return None

    async def refused(_: str, __: dict[str, Any]) -> str:
        raise AssertionError("nothing is suggested")

    hosts = cast(Hosts, Working(lambda: change(clients, grant)))
    receipts = Receipts(Audit(root / "audit"), SYSTEM)
    access = ByGrant(hosts, clients, receipts, Outside(nowhere, list, refused), grant)
    await asyncio.wait_for(access.call(TOOL, {}, "client"), 60)


async def test_a_tool_that_is_taken_away_answers_no_more(tmp_path: Path) -> None:
    with raises("tool_not_granted"):
        await call(tmp_path, lambda clients, name: clients.narrow(name, replace(LIMITS, tools=("daily-today",))))


async def test_what_ends_meanwhile_answers_no_more(tmp_path: Path) -> None:
    with raises("grant_ended"):
        await call(tmp_path, lambda clients, name: clients.end(name))
