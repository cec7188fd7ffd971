"""Presets: hosts under a name of the owner's own, looked up when a sandbox opens."""

import pytest

from parachute.base.errors import InvalidInput
from parachute.chat.workspaces.models import EVERYTHING, Workspace
from parachute.sandbox.egress.models import Network
from tests.chat.network.test_networks import NOW, World, world

pytestmark = pytest.mark.process

__all__ = ["world"]

PRESETS = {"python": ["index.example.org", "api.example.org"], "home": ["nas.local:8443"]}
CODE = Workspace("code", "Code", NOW, NOW, EVERYTHING, network=Network("list", ("preset:python", "web.example.org")))


async def test_what_a_preset_is_counts_when_a_sandbox_opens(world: World) -> None:
    world.networks = world.made(presets=PRESETS)
    opened = await world.open("a", CODE)
    assert opened == Network("list", ("index.example.org", "api.example.org", "web.example.org"))
    assert await world.reached("a")
    assert await world.reached("a", "http://web.example.org/")
    world.networks = world.made(presets={**PRESETS, "python": ["index.example.org"]})
    await world.open("a", CODE)
    assert "it is not on the list" in await world.ask("a")


async def test_chats_without_a_workspace_have_those_of_their_list(world: World) -> None:
    world.networks = world.made(presets=PRESETS, hosts=["preset:home", "preset:python"])
    assert (await world.open("a")).hosts == ("nas.local:8443", "index.example.org", "api.example.org")
    assert await world.reached("a")


async def test_without_the_preset_nothing_opens(world: World) -> None:
    world.networks = world.made(presets={"node": []})
    with pytest.raises(InvalidInput) as caught:
        await world.open("a", CODE)
    assert caught.value.key == "no_such_preset"
    assert "There are: node. `parachute config set network.presets.python" in (caught.value.hint or "")
    assert world.egress.status() == []
