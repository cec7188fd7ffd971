"""Presets of hosts in the lists of workspaces."""

import msgspec
import pytest

from parachute.base.errors import InvalidInput
from parachute.sandbox.egress.models import Network
from tests.chat.workspaces.conftest import WorkspaceStorage


async def test_a_workspace_keeps_the_name_of_a_preset(storage: WorkspaceStorage) -> None:
    hosts = ["boat.example.org", "preset:python", "preset:python"]
    made = await storage.create(network={"mode": "list", "hosts": hosts})
    assert made.network == Network("list", ("preset:python", "boat.example.org"))
    with pytest.raises(InvalidInput) as caught:
        await storage.update("garden", network={"hosts": ["preset:rust"]})
    assert (caught.value.key, caught.value.hint and "There are: python." in caught.value.hint) == (
        "no_such_preset",
        True,
    )
    with pytest.raises(InvalidInput):
        await storage.create("Other", network={"hosts": ["preset:rust"]})
    assert [each.slug for each in storage.workspaces.all()] == ["garden"]


async def test_a_preset_that_has_gone_is_no_reason_to_refuse_another_change(storage: WorkspaceStorage) -> None:
    made = await storage.create()
    network = Network("ask", ("preset:gone",))
    await storage.rows.put(msgspec.structs.replace(made, network=network), "owner")
    assert (await storage.update("garden", description="Beds.")).network == network
