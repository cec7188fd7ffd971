"""Conversations and the official modules: their para-ids, and asking the journal."""

import json
from typing import Any

import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.conftest import needs_bubblewrap
from tests.flow.official import OfficialComputer, answer, tools_of
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = [pytest.mark.long, needs_bubblewrap, pytest.mark.computer]


@pytest.fixture(scope="module")
def house(make_shared_computer: Make[Computer], model: MessagesAPI) -> OfficialComputer:
    """A computer with all official modules."""
    model.default(answer)
    computer = make_shared_computer(OfficialComputer)
    computer.set_up()
    return computer


def events(body: str) -> list[dict[str, Any]]:
    """The events of a stream."""
    return [json.loads(line.removeprefix("data: ")) for line in body.splitlines() if line.startswith("data: ")]


def test_a_conversation_has_a_para_id_for_everybody(house: OfficialComputer) -> None:
    session = house.say("The curriculum of the summer.").terminal["sessionId"]
    (listed,) = [each for each in house.value("/api/chat")["sessions"] if each["id"] == session]
    para_id = house.value(f"/api/chat/{session}")["paraId"]
    assert para_id == listed["paraId"]
    found = house.value(f"/api/para/{para_id}")
    assert (found["module"], found["item"]["id"], found["item"]["title"]) == ("chat", session, listed["title"])
    kevin = house.know("person", "Kevin", "Kevin is from Regen Hub.")
    linked = house.post("/api/brain/link", json={"source_id": para_id, "para_id": kevin})
    assert linked.status_code == 200, linked.text
    assert [each["source_id"] for each in house.value(f"/api/brain/links?id={kevin}")["mentions"]] == [para_id]
    entry = house.post("/api/daily/entries", json={"content": f"What we said is in {para_id}."}).json()["id"]

    def is_mentioned(found: dict[str, Any]) -> bool:
        return para_id in found["mentions"]

    house.eventually(f"/api/daily/entries/{entry}", is_mentioned, "the entry mentions the conversation")


def test_the_journal_is_asked_and_gone_on_with(house: OfficialComputer, model: MessagesAPI) -> None:
    house.post("/api/daily/entries", json={"content": "Kevin planted beans.", "date": "2025-03-04"})
    searched = "mcp__parachute__daily-search"
    model.script(tool_use(searched, {"query": "beans"}), text("On 2025-03-04 Kevin planted beans."))
    asked = house.post("/api/daily/query", json={"message": "Who planted beans?"})
    assert asked.headers["content-type"].startswith("text/event-stream")
    came = events(asked.text)
    assert came[-1]["type"] == "done", came
    assert [each["content"] for each in came if each["type"] == "text"][-1] == "On 2025-03-04 Kevin planted beans."
    (result,) = [each["content"] for each in came if each["type"] == "tool_result"]
    assert "Kevin planted beans." in result
    first = model.conversation[-2].body
    assert "You talk with a person about their own journal." in json.dumps(first["system"])
    assert tools_of(first) == {"daily-search", "daily-today", "brain-resolve", "brain-context"}
    assert {str(tool["name"]) for tool in first["tools"]} == {f"mcp__parachute__{name}" for name in tools_of(first)}, (
        "nothing reads files or writes"
    )
    session = next(each["sessionId"] for each in came if each["type"] == "session" and each["sessionId"])
    model.script(text("In the morning."))
    again = events(house.post("/api/daily/query", json={"message": "When?", "session_id": session}).text)
    assert (again[-1]["type"], again[-1]["sessionId"]) == ("done", session)
    assert "Who planted beans?" in json.dumps(model.conversation[-1].body["messages"])
    # Nobody goes on with a conversation of the person's own, nor without the right to.
    own = house.say("Hello.").terminal["sessionId"]
    assert house.post("/api/daily/query", json={"message": "Hi", "session_id": own}).status_code == 404
    _, secret = Keys(house.home.root).create("tablet", [Scope.parse("daily:read")])
    refused = house.ask("POST", "/api/daily/query", json={"message": "Hi"}, headers={"x-api-key": secret})
    assert refused.status_code == 403


def test_the_command_line_asks_the_journal(house: OfficialComputer, model: MessagesAPI) -> None:
    model.script(text("Nothing is in it about boats."))
    done = house.command("daily", "ask", "What", "about", "boats?")
    assert (done.returncode, done.stdout.strip()) == (0, "Nothing is in it about boats."), done.stderr
    known = done.stderr.partition("--session ")[2].split()[0]
    model.script(text("Still nothing."))
    said = house.output("daily", "ask", "--session", known, "--json", "And", "ships?")
    assert [json.loads(line)["type"] for line in said.splitlines()][-1] == "done"
