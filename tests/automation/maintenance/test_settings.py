"""A setting that the maintenance agent proposes: nobody but an owner has it changed, and nothing else can propose one."""

import json
from typing import Any

import pytest

from parachute.config.settings.store import load, set_value
from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.automation.maintenance.conftest import MaintenanceComputer
from tests.conftest import needs_bubblewrap
from tests.support.messages_api import text, tool_use

pytestmark = [needs_bubblewrap, pytest.mark.long]

TOOL = "mcp__parachute__settings-suggest"


def propose(computer: MaintenanceComputer, name: str, value: str, **more: Any) -> str:
    """Have the agent propose a setting; its answer."""
    arguments = {"name": name, "value": value, "reasoning": "Boxes use up the memory.", **more}
    computer.model.script(tool_use(TOOL, arguments), text("Done."))
    assert computer.chat("/maintenance Look.")[-1]["type"] == "done"
    (block,) = computer.model.conversation[-1].tool_results
    return json.dumps(block["content"])


def pending(computer: MaintenanceComputer) -> list[dict[str, Any]]:
    """What waits."""
    found: list[dict[str, Any]] = computer.value("/api/suggestions?status=pending&module=settings")["suggestions"]
    return found


def decide(computer: MaintenanceComputer, identifier: str, key: str = "") -> int:
    """Approve one, as the owner or with a key; the status of the answer."""
    headers = {"authorization": f"Bearer {key}"} if key else computer.headers
    return computer.post(f"/api/suggestions/{identifier}/approve", headers=headers).status_code


def test_it_waits_for_an_owner(computer: MaintenanceComputer) -> None:
    before = load(computer.home).sandbox.idle_minutes
    assert "waits for the user" in propose(computer, "sandbox.idle_minutes", "7")
    (waiting,) = pending(computer)
    assert (waiting["title"], waiting["source_agent"]) == ("sandbox.idle_minutes: 7", "maintenance")
    assert load(computer.home).sandbox.idle_minutes == before != 7
    scopes = [Scope.parse("chat:write"), Scope.parse("settings:write"), Scope.parse("daily:write")]
    _, everyday = Keys(computer.home.root).create("phone", scopes)
    assert decide(computer, waiting["id"], everyday) == 403
    assert load(computer.home).sandbox.idle_minutes == before
    assert decide(computer, waiting["id"]) == 200
    assert load(computer.home).sandbox.idle_minutes == 7
    assert decide(computer, waiting["id"]) == 409


def test_what_was_changed_since_is_not_written_over(computer: MaintenanceComputer) -> None:
    propose(computer, "sandbox.scratch_megabytes", "64")
    (waiting,) = pending(computer)
    set_value(computer.home, "sandbox.scratch_megabytes", "128")
    assert decide(computer, waiting["id"]) == 409
    assert load(computer.home).sandbox.scratch_megabytes == 128
    computer.post(f"/api/suggestions/{waiting['id']}/reject", headers=computer.headers)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("sandbox.nothing", "1", "there is no such setting"),
        ("sandbox.idle_minutes", '"soon"', "idle_minutes"),
        ("sandbox.idle_minutes", "soon", "JSON is expected"),
        ("port", "70000", "port"),
    ],
)
def test_an_agent_hears_what_cannot_be_set(computer: MaintenanceComputer, name: str, value: str, says: str) -> None:
    assert says in propose(computer, name, value)
    assert pending(computer) == []


def test_a_module_cannot_whatever_its_manifest_says(computer: MaintenanceComputer) -> None:
    document = {
        "action": "create",
        "target_module": "settings",
        "payload": {"name": "port", "value": 1},
        "reasoning": "",
    }
    answer = computer.post("/api/diary/propose", json=document)
    assert answer.status_code == 403, answer.text
    assert "may not make suggestions for 'settings'" in answer.json()["detail"]
    document["target_id"] = "para:settings:abcdefghijkl"
    assert computer.post("/api/diary/propose", json=document).status_code == 403
    assert pending(computer) == []
