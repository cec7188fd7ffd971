"""A setting that the maintenance agent proposes: nobody but an owner has it changed, and nothing else can propose one."""

import json
from typing import Any

import pytest

from parachute.config.settings.store import load, set_value
from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.automation.maintenance.conftest import MaintenanceServer
from tests.conftest import needs_bubblewrap
from tests.support.messages_api import text, tool_use

pytestmark = [needs_bubblewrap, pytest.mark.long]

TOOL = "mcp__parachute__settings-suggest"


def propose(server: MaintenanceServer, name: str, value: str, **more: Any) -> str:
    """Have the agent propose a setting; its answer."""
    arguments = {"name": name, "value": value, "reasoning": "Boxes use up the memory.", **more}
    server.model.script(tool_use(TOOL, arguments), text("Done."))
    assert server.chat("/maintenance Look.")[-1]["type"] == "done"
    (block,) = server.model.conversation[-1].tool_results
    return json.dumps(block["content"])


def pending(server: MaintenanceServer) -> list[dict[str, Any]]:
    """Return the suggestions that wait."""
    found: list[dict[str, Any]] = server.value("/api/suggestions?status=pending&module=settings")["suggestions"]
    return found


def decide(server: MaintenanceServer, identifier: str, key: str = "") -> int:
    """Approve one, as the owner or with a key; the status of the answer."""
    headers = {"authorization": f"Bearer {key}"} if key else server.headers
    return server.post(f"/api/suggestions/{identifier}/approve", headers=headers).status_code


def test_it_waits_for_an_owner(server: MaintenanceServer) -> None:
    before = load(server.home).sandbox.idle_minutes
    assert "waits for the user" in propose(server, "sandbox.idle_minutes", "7")
    (waiting,) = pending(server)
    assert (waiting["title"], waiting["source_agent"]) == ("sandbox.idle_minutes: 7", "maintenance")
    assert load(server.home).sandbox.idle_minutes == before != 7
    scopes = [Scope.parse("chat:write"), Scope.parse("settings:write"), Scope.parse("daily:write")]
    _, everyday = Keys(server.home.root).create("phone", scopes)
    assert decide(server, waiting["id"], everyday) == 403
    assert load(server.home).sandbox.idle_minutes == before
    assert decide(server, waiting["id"]) == 200
    assert load(server.home).sandbox.idle_minutes == 7
    assert decide(server, waiting["id"]) == 409


def test_what_was_changed_since_is_not_written_over(server: MaintenanceServer) -> None:
    propose(server, "sandbox.scratch_megabytes", "64")
    (waiting,) = pending(server)
    set_value(server.home, "sandbox.scratch_megabytes", "128")
    assert decide(server, waiting["id"]) == 409
    assert load(server.home).sandbox.scratch_megabytes == 128
    server.post(f"/api/suggestions/{waiting['id']}/reject", headers=server.headers)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("sandbox.nothing", "1", "unknown setting"),
        ("sandbox.idle_minutes", '"soon"', "idle_minutes"),
        ("sandbox.idle_minutes", "soon", "JSON is expected"),
        ("port", "70000", "port"),
    ],
)
def test_an_agent_hears_what_cannot_be_set(server: MaintenanceServer, name: str, value: str, says: str) -> None:
    assert says in propose(server, name, value)
    assert pending(server) == []


def test_a_module_cannot_whatever_its_manifest_says(server: MaintenanceServer) -> None:
    document = {
        "action": "create",
        "target_module": "settings",
        "payload": {"name": "port", "value": 1},
        "reasoning": "",
    }
    answer = server.post("/api/diary/propose", json=document)
    assert answer.status_code == 403, answer.text
    assert "may not make suggestions for 'settings'" in answer.json()["detail"]
    document["target_id"] = "para:settings:abcdefghijkl"
    assert server.post("/api/diary/propose", json=document).status_code == 403
    assert pending(server) == []
