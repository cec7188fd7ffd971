"""The server's own way out: to what the owner approved, and to this machine only where its address says so."""

import pytest

from parachute.sandbox.egress.models import Refused, Target
from parachute.sandbox.egress.hosts import is_at_home, is_this_machine
from tests.sandbox.egress.conftest import World
from tests.sandbox.egress.internet import PUBLIC


@pytest.mark.parametrize(
    ("host", "at_home", "this_machine"),
    [
        ("api.example.org", False, False),
        (PUBLIC, False, False),
        ("nas.local", True, False),
        ("box.lan", True, False),
        ("localhost", True, True),
        ("127.0.0.1", True, True),
        ("::1", True, True),
        ("192.168.1.20", True, True),
        ("169.254.169.254", True, False),
    ],
)
def test_what_is_at_home(host: str, at_home: bool, this_machine: bool) -> None:
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
