"""Promises of the README, on one computer: the part of its tests that `make test` runs."""

import json
from typing import Any

import pytest

from parachute.security.keys.cli_token import CliToken
from tests.flow.official import ENTRY, OfficialComputer
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use

pytestmark = pytest.mark.promised

CHANGE = "Change the plan."
WORK = "echo Row. > plan.md; echo new > more.md; echo obeyed > AGENTS.md"


@pytest.fixture(scope="module")
def official(make_shared_computer: Make[Computer], model: MessagesAPI) -> OfficialComputer:
    """A computer with the official modules."""
    model.default(_model)
    computer = make_shared_computer(OfficialComputer)
    computer.set_up()
    return computer


def _model(body: dict[str, Any]) -> Reply:
    """Change the plan when asked to, and else take note: others than the tests ask, too."""
    has_commands = any(tool["name"] == "Bash" for tool in body.get("tools", ()))
    said = json.dumps(body["messages"])
    if has_commands and CHANGE in said and "tool_result" not in said:
        return tool_use("Bash", {"command": WORK, "description": "Change it"})
    return text("Noted.")


def test_an_entry_of_the_journal_is_found_and_proposes_what_it_mentions(official: OfficialComputer) -> None:
    entry = json.loads(official.output("daily", "add", ENTRY, "--json"))
    assert ENTRY in official.output("daily", "show", entry["date"])
    assert ENTRY in official.output("daily", "search", "curriculum")

    def topic(found: dict[str, Any]) -> Any:
        return [each for each in found["suggestions"] if each["payload"].get("name") == "prompt engineering"]

    (proposed,) = topic(official.eventually("/api/suggestions?status=pending&module=brain", topic, "a topic waits"))
    official.output("suggestions", "approve", proposed["id"], "--yes")
    assert "prompt engineering" in official.output("brain", "search", "prompt")


def test_a_conversation_is_answered_and_goes_on_after_a_crash(official: OfficialComputer, model: MessagesAPI) -> None:
    first = official.say("What is a journal good for?")
    assert first.text == "Noted."
    official.kill_core()
    assert official.say("Why?", first.of_type("session")[0]["sessionId"]).text == "Noted."
    asked = [json.dumps(request.body["messages"]) for request in model.conversation]
    assert [each for each in asked if "What is a journal good for?" in each and '"Why?"' in each]


def test_an_agents_work_in_a_folder_is_applied_and_undone(official: OfficialComputer) -> None:
    boat = official.vault / "Projects" / "boat"
    boat.mkdir(parents=True)
    (boat / "plan.md").write_text("Sail.\n")
    body = {"message": CHANGE, "workingDirectory": "Projects/boat", "sessionId": "new", "module": "chat"}
    headers = {"authorization": f"Bearer {CliToken(official.home.root).obtain()}"}
    said = official.post("/api/chat", json=body, headers=headers).text
    events = [json.loads(line[6:]) for line in said.split("\n") if line.startswith("data: ")]
    assert events[-1]["type"] == "done", events[-1]
    assert ((boat / "plan.md").read_text(), (boat / "more.md").read_text()) == ("Row.\n", "new\n")
    assert not (boat / "AGENTS.md").exists(), "what agents obey waits for the owner"
    undone = official.post(f"/api/chat/{events[-1]['sessionId']}/undo", json={}, headers=headers)
    assert undone.json()["conflicts"] == []
    assert ((boat / "plan.md").read_text(), (boat / "more.md").exists()) == ("Sail.\n", False)


def test_a_module_is_removed_and_comes_back_with_what_it_wrote(official: OfficialComputer) -> None:
    official.output("brain", "create", "Kevin", "--type", "person")
    official.output("modules", "remove", "brain", "--yes")
    assert "brain" not in {each["name"] for each in official.value("/api/modules")["modules"]}
    official.set_up(["brain"])
    assert "Kevin" in official.output("brain", "search", "Kevin")
