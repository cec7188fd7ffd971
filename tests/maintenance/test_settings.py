"""A setting that the maintenance agent proposes: nobody but an owner has it changed, and nothing else can propose one."""

import json
from typing import Any

import pytest

from parachute.keys.models import Scope
from parachute.keys.service import Keys
from parachute.settings.store import load, set_value
from tests.conftest import needs_bubblewrap
from tests.maintenance.conftest import House
from tests.support.messages_api import text, tool_use

pytestmark = needs_bubblewrap

TOOL = "mcp__parachute__settings-suggest"


def propose(house: House, name: str, value: str, **more: Any) -> str:
    """Have the agent propose a setting; what it was told."""
    arguments = {"name": name, "value": value, "reasoning": "Boxes use up the memory.", **more}
    house.model.script(tool_use(TOOL, arguments), text("Done."))
    assert house.chat("/maintenance Look.")[-1]["type"] == "done"
    (block,) = house.model.conversation[-1].tool_results
    return json.dumps(block["content"])


def pending(house: House) -> list[dict[str, Any]]:
    """What waits."""
    found: list[dict[str, Any]] = house.value("/api/suggestions?status=pending&module=settings")["suggestions"]
    return found


def decide(house: House, identifier: str, key: str = "") -> int:
    """Approve one, as the owner or with a key; the status of the answer."""
    headers = {"authorization": f"Bearer {key}"} if key else house.headers
    return house.post(f"/api/suggestions/{identifier}/approve", headers=headers).status_code


def test_it_waits_for_an_owner(house: House) -> None:
    before = load(house.home).sandbox.idle_minutes
    assert "waits for the user" in propose(house, "sandbox.idle_minutes", "7")
    (waiting,) = pending(house)
    assert (waiting["title"], waiting["source_agent"]) == ("sandbox.idle_minutes: 7", "maintenance")
    assert load(house.home).sandbox.idle_minutes == before != 7
    scopes = [Scope.parse("chat:write"), Scope.parse("settings:write"), Scope.parse("daily:write")]
    _, everyday = Keys(house.home.root).create("phone", scopes)
    assert decide(house, waiting["id"], everyday) == 403
    assert load(house.home).sandbox.idle_minutes == before
    assert decide(house, waiting["id"]) == 200
    assert load(house.home).sandbox.idle_minutes == 7
    assert decide(house, waiting["id"]) == 409


def test_what_was_changed_since_is_not_written_over(house: House) -> None:
    propose(house, "sandbox.scratch_megabytes", "64")
    (waiting,) = pending(house)
    set_value(house.home, "sandbox.scratch_megabytes", "128")
    assert decide(house, waiting["id"]) == 409
    assert load(house.home).sandbox.scratch_megabytes == 128
    house.post(f"/api/suggestions/{waiting['id']}/reject", headers=house.headers)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("sandbox.nothing", "1", "there is no such setting"),
        ("sandbox.idle_minutes", '"soon"', "idle_minutes"),
        ("sandbox.idle_minutes", "soon", "JSON is expected"),
        ("port", "70000", "port"),
    ],
)
def test_what_cannot_be_is_told_the_agent(house: House, name: str, value: str, says: str) -> None:
    assert says in propose(house, name, value)
    assert pending(house) == []


def test_a_module_cannot_whatever_its_manifest_says(house: House) -> None:
    document = {
        "action": "create",
        "target_module": "settings",
        "payload": {"name": "port", "value": 1},
        "reasoning": "",
    }
    answer = house.post("/api/diary/propose", json=document)
    assert answer.status_code == 403, answer.text
    assert "may not make suggestions for 'settings'" in answer.json()["detail"]
    document["target_id"] = "para:settings:abcdefghijkl"
    assert house.post("/api/diary/propose", json=document).status_code == 403
    assert pending(house) == []
