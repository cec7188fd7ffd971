"""The name that the local network gave us in the place of ours, and a start before there is any key."""

import asyncio
from collections.abc import Callable

import pytest

from parachute.web.access.hosts import HostAllowList, HostNotListed
from tests.support.errors import raises

from .gate import REMOTE, Gate

MakeGate = Callable[..., Gate]


class Network:
    """Says which name we have, and counts how often it is asked."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.asked = 0

    async def announced(self) -> str | None:
        """The name."""
        self.asked += 1
        await asyncio.sleep(0)
        return self.name


async def is_admitted(hosts: HostAllowList, host: str) -> bool:
    try:
        await hosts.admit(host.encode())
    except HostNotListed:
        return False
    return True


@pytest.mark.parametrize("host", ["parachute-2.local", "Parachute-2.LOCAL:3333", "parachute-2.local.:80"])
async def test_the_name_that_we_were_given_is_ours(host: str) -> None:
    network = Network("parachute-2.local")
    assert await is_admitted(HostAllowList(announced=network.announced), host)


@pytest.mark.parametrize(
    "host", ["parachute-3.local", "parachute-2.local.evil.example", "x.parachute-2.local", "parachute-2", "10.9.8.7"]
)
async def test_no_other_name_is(host: str) -> None:
    network = Network("parachute-2.local")
    assert not await is_admitted(HostAllowList(announced=network.announced), host)
    assert not await is_admitted(HostAllowList(announced=Network(None).announced), host)


async def test_strangers_do_not_make_us_ask_each_time() -> None:
    network = Network("parachute-2.local")
    hosts = HostAllowList(announced=network.announced)
    answers = await asyncio.gather(*(is_admitted(hosts, f"stranger-{number}.local") for number in range(50)))
    assert not any(answers)
    assert network.asked == 1
    assert all(await asyncio.gather(*(is_admitted(hosts, "parachute-2.local") for _ in range(50))))
    assert network.asked == 1


async def test_our_usual_names_need_no_question() -> None:
    network = Network(None)
    hosts = HostAllowList(["parachute.example"], announced=network.announced)
    for host in ("localhost:3333", "127.0.0.1", "parachute.example"):
        assert await is_admitted(hosts, host)
    assert not await is_admitted(hosts, "evil.example")
    assert network.asked == 0


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "192.168.1.5"])
def test_a_computer_that_waits_for_its_set_up_starts_and_lets_nobody_in(gate: MakeGate, bind: str) -> None:
    made = gate(bind=bind, awaits_set_up=True)
    for method, path in (("GET", "/api/chat"), ("POST", "/api/auth/keys"), ("GET", "/api/setup"), ("PUT", "/setup")):
        assert made.call(method, path, client=REMOTE).status == 401
        assert made.call(method, path, {"X-API-Key": "para_x"}, client=REMOTE).status == 401
    for path in ("/api/health", "/", "/console/main.js", "/setup"):
        assert made.call("GET", path, client=REMOTE).status == 200
    _, secret = made.keys.create_first()
    assert made.call("GET", "/api/setup", {"X-API-Key": secret}, client=REMOTE).status == 200
    with raises("auth_disabled"):
        gate(bind=bind, awaits_set_up=True, auth_mode="disabled")


@pytest.mark.parametrize("path", ["/setup/", "/setup/x", "/setup/page.css", "/setup/page.js", "/setupx", "/api/setup/"])
def test_nothing_beside_the_console_is_open(gate: MakeGate, path: str) -> None:
    assert gate().call("GET", path, client=REMOTE).status == 401


def test_choosing_and_finishing_need_a_key_also_from_this_computer(gate: MakeGate) -> None:
    made = gate()
    for method, path in (("GET", "/api/setup"), ("POST", "/api/setup/finish"), ("PUT", "/api/provider")):
        assert made.call(method, path).status == 403
        assert made.call(method, path, {"X-API-Key": made.keys.create(f"Phone {method} {path}"[:90])[1]}).status == 200
