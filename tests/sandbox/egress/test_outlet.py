"""The server's own way out: to what the owner approved, and to this machine only where its address says so."""

import asyncio

import pytest

from parachute.sandbox.egress.hosts import is_at_home, is_this_machine
from parachute.sandbox.egress.models import Refused, Target
from tests.sandbox.egress.conftest import World, connect_request
from tests.sandbox.egress.internet import PUBLIC

pytestmark = pytest.mark.process


def test_what_is_at_home() -> None:
    for host, at_home, this_machine in (
        ("api.example.org", False, False),
        (PUBLIC, False, False),
        ("nas.local", True, False),
        ("box.lan", True, False),
        ("localhost", True, True),
        ("127.0.0.1", True, True),
        ("::1", True, True),
        ("192.168.1.20", True, True),
        ("169.254.169.254", True, False),
    ):
        assert (is_at_home(host), is_this_machine(host)) == (at_home, this_machine)


async def test_only_what_was_approved_is_reached(world: World) -> None:
    async def nobody(*_: object) -> None:
        return

    await world.internet.serve(PUBLIC, 443, nobody)
    outlet = world.egress.outlet("mcp:notes", Target("api.example.org", 443), ["web.example.org"])
    for host, port in (("api.example.org", 443), ("web.example.org", 443)):
        _, writer = await outlet.connect(Target(host, port))
        writer.close()
    for host, port in (("api.example.org", 8443), ("other.example.org", 443), ("169.254.169.254", 443)):
        with pytest.raises(Refused) as refused:
            await outlet.connect(Target(host, port))
        assert refused.value.key == "host_not_allowed"
    for address in ("127.0.0.1", "169.254.169.254", "192.168.1.1"):
        world.internet.names["api.example.org"] = [[address]]
        with pytest.raises(Refused) as refused:
            await outlet.connect(Target("api.example.org", 443))
        assert refused.value.key == "egress_refused"
    assert world.internet.reached == [(PUBLIC, 443)] * 2
    outlet.close()
    audited = await world.audited()
    assert [each["success"] for each in audited] == [True, True, False, False, False, False, False, False]
    assert {(each["source_type"], each["source_id"]) for each in audited} == {("mcp_server", "mcp:notes")}


async def test_the_one_address_that_the_owner_wrote_may_be_this_machine(world: World) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")

    await world.internet.serve("127.0.0.1", 8081, greet)
    await world.internet.serve(PUBLIC, 443, greet)
    hosts, path = ["api.example.org"], world.path
    await world.egress.open("daily", hosts, path, kind="connector", named=Target("127.0.0.1", 8081))
    for target in ("127.0.0.1:8081", "api.example.org:443"):
        reader, _ = await world.tunnel(target)
        assert await reader.readexactly(5) == b"hello"
    for target in ("127.0.0.1:8082", "localhost:8081", "[::1]:8081"):
        assert b" 403 " in (await world.ask(connect_request(target))).splitlines()[0]
    # A name of others cannot be pointed here.
    await world.egress.open("daily", [], path, kind="connector", named=Target("web.example.org", 443))
    world.internet.names["web.example.org"] = [["127.0.0.1"]]
    assert b" 403 " in (await world.ask(connect_request("web.example.org:443"))).splitlines()[0]
    assert b" 403 " in (await world.ask(connect_request("127.0.0.1:8081"))).splitlines()[0]
    assert {each["source_type"] for each in await world.audited()} == {"connector"}
