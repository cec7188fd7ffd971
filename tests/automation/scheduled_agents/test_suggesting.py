"""Agents that work once a day and propose changes: for the modules that their file names, as the user has approved it."""

import json

import pytest

from tests.automation.scheduled_agents.conftest import AGENTS, KEY, OWN, Garden
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server

pytestmark = pytest.mark.long

SUGGEST = "mcp__parachute__suggest"
PROPOSING = OWN.replace("tools: [read, Bash]", "can_suggest: [shed]")
CHANGE = {"action": "create", "target_module": "shed", "payload": {"name": "Rake"}, "reasoning": "Many weeds."}


APPLY = "async def apply_suggestion(self, action, target_id, payload, expected_version):\n    return {}\n"


@pytest.fixture
def garden(make_server: Make[Server]) -> Garden:
    """A garden whose module may propose changes of its own and of what `shed` keeps, and of nothing else."""
    server = make_server(Garden, environment={"ANTHROPIC_API_KEY": KEY})
    server.install_quietly("shed", APPLY)
    helper = {"capabilities": ["read"], "can_suggest": ["shed", "garden"]}
    server.install("garden", permissions={"write": ["Garden/**"]}, agents={"helper": helper})
    return server


def test_an_agent_proposes_what_its_approved_file_lets_it(garden: Garden, api: MessagesAPI) -> None:
    garden.write_agent("weeds", PROPOSING)
    shown = garden.agent("weeds")
    assert (shown["status"], shown["canSuggest"]) == ("waits_for_approval", ["shed"])
    asked = garden.command("schedule", "approve")
    assert (asked.returncode, "It can suggest changes in shed." in asked.stdout) == (3, True)
    assert garden.let("weeds").status_code == 200
    elsewhere = {**CHANGE, "target_module": "garden"}
    api.script(tool_use(SUGGEST, CHANGE), tool_use(SUGGEST, elsewhere), text("No weeds."))
    ended = garden.run("weeds", date="2026-04-01")
    assert ended["status"] == "completed"
    (tool,) = [each for each in api.conversation[-1].body["tools"] if each["name"] == SUGGEST]
    assert tool["input_schema"]["properties"]["target_module"]["enum"] == ["shed"]
    (found,) = garden.value("/api/suggestions")["suggestions"]
    assert (found["source_agent"], found["source_session"]) == ("garden/weeds", ended["sessionId"])
    assert (found["status"], found["payload"]) == ("pending", {"name": "Rake"})
    said = json.dumps(api.conversation[-1].tool_results)
    assert f"The suggestion {found['id']} waits for the user" in said
    assert "may not make suggestions for 'garden'; it may for: shed." in said
    (run, *_) = garden.value(f"{AGENTS}/weeds/runs")["runs"]
    assert f"Proposed {found['id']}." in run["log"]


def test_an_agent_whose_file_names_no_module_has_no_such_tool(garden: Garden, api: MessagesAPI) -> None:
    garden.write_agent("weeds", OWN)
    garden.let("weeds")
    before = garden.value("/api/suggestions")["total"]
    api.script(tool_use(SUGGEST, CHANGE), text("No weeds."))
    assert garden.run("weeds", date="2026-04-02")["status"] == "completed"
    assert SUGGEST not in [tool["name"] for tool in api.conversation[-1].body["tools"]]
    assert garden.value("/api/suggestions")["total"] == before
    # With it the file is another one, and waits.
    garden.write_agent("weeds", PROPOSING.replace("Look for weeds.", "Look for more weeds."))
    assert garden.agent("weeds")["status"] == "waits_for_approval"


def test_no_file_goes_beyond_what_its_module_may(garden: Garden) -> None:
    garden.write_agent("weeds", PROPOSING.replace("[shed]", "[brain]"))
    shown = garden.agent("weeds")
    said = "can_suggest: the agents of this module may not make suggestions for brain, but for: garden, shed."
    assert (shown["status"], shown["problem"]) == ("broken", said)
    assert garden.let("weeds").status_code == 422
    assert garden.post(f"{AGENTS}/weeds/run", json={}).status_code == 422


def test_about_one_thing_an_agent_proposes_once_for_a_day(garden: Garden, api: MessagesAPI) -> None:
    garden.write_agent("weeds", PROPOSING)
    assert garden.let("weeds").status_code == 200
    hoe = {**CHANGE, "payload": {"name": "Hoe"}}
    api.script(tool_use(SUGGEST, hoe), tool_use(SUGGEST, {**hoe, "payload": {"name": "hoe", "size": 2}}), text("Done."))
    assert garden.run("weeds", date="2026-04-03")["status"] == "completed"
    said = json.dumps(api.conversation[-1].tool_results)
    (found, *_) = garden.value("/api/suggestions")["suggestions"]
    assert f"For 2026-04-03 there is the suggestion {found['id']} about the same thing already: leave it." in said
    assert (found["payload"], found["reasoning"]) == ({"name": "Hoe"}, "2026-04-03: Many weeds.")
    # Also when the user turned it down.
    assert garden.post(f"/api/suggestions/{found['id']}/reject", json={}).status_code == 200
    before = garden.value("/api/suggestions")["total"]
    api.script(tool_use(SUGGEST, hoe), text("Done."))
    assert garden.run("weeds", date="2026-04-04")["status"] == "completed"
    assert garden.value("/api/suggestions")["total"] == before
