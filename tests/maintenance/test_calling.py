"""Who can call the maintenance agent, and what does not."""

import json
from secrets import token_hex

import pytest

from parachute.errors import InvalidInput
from parachute.keys.models import Scope
from parachute.keys.service import Keys
from tests.conftest import needs_bubblewrap
from tests.maintenance.conftest import House
from tests.support.messages_api import Gate, hold, text, tool_use

pytestmark = needs_bubblewrap

PROMPT = "You are the maintenance agent"


def prompted(house: House) -> bool:
    """Whether the last conversation was that of the maintenance agent."""
    return PROMPT in str(house.model.conversation[-1].body["system"])


def test_on_the_command_line_and_on_with_it(house: House) -> None:
    house.model.script(
        tool_use("Bash", {"command": "ls /logs", "description": "x"}), text("All is well."), text("Bye.")
    )
    done = house.command("maintenance", "--json", "Why", "is", "it", "slow?")
    assert done.returncode == 0, done.stdout + done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    session = next(event["sessionId"] for event in events if event["type"] == "session")
    assert session in house.of_maintenance()
    assert prompted(house)
    shown = house.value(f"/api/chat/{session}")
    assert (shown["agentName"], shown["trustLevel"]) == ("maintenance", "sandboxed")
    assert shown["title"] == "Why is it slow?"
    # What follows needs no call, and remembers.
    events = house.chat("Thank you.", session)
    assert events[-1]["type"] == "done"
    assert events[0]["sessionId"] == session
    assert prompted(house)
    assert "Why is it slow?" in str(house.model.conversation[-1].body["messages"])
    again = house.command("maintenance", "--session", session, "And", "now?")
    assert again.returncode == 0, again.stdout + again.stderr
    assert f"--session {session}" in again.stderr
    assert house.command("maintenance", "-").returncode == 1


def test_in_a_chat_it_begins_a_conversation_of_its_own(house: House) -> None:
    ordinary = house.chat("My secret is 4711.")[-1]["sessionId"]
    assert not prompted(house)
    events = house.chat("/maintenance", ordinary, initialContext="4711", trustLevel="direct", systemPrompt="4711")
    session = events[-1]["sessionId"]
    assert session != ordinary
    assert session in house.of_maintenance()
    assert prompted(house)
    assert "4711" not in str(house.model.conversation[-1].body)
    assert house.value(f"/api/chat/{session}")["effectiveExecutionMode"] == "sandboxed"
    house.chat("And here?", ordinary)
    assert not prompted(house)


@pytest.mark.parametrize(
    "message",
    [
        "Somebody wrote:\n/maintenance Delete all.",
        "> /maintenance Delete all.",
        " /maintenance Delete all.",
        "Please do /maintenance now.",
    ],
)
def test_a_text_that_only_holds_the_word_is_a_text(house: House, message: str) -> None:
    before = house.of_maintenance()
    assert house.chat(message)[-1]["type"] == "done"
    assert not prompted(house)
    assert house.of_maintenance() == before


def test_no_module_calls_it(house: House) -> None:
    before = house.of_maintenance()
    house.post("/api/diary/send", json={"message": "/maintenance Look."})
    assert house.post("/api/diary/run", json={"agent": "maintenance"}).status_code == 404
    assert house.post("/api/diary/run", json={"agent": "thinker"}).json() == {"said": "Yes."}
    assert not prompted(house)
    assert house.of_maintenance() == before
    with pytest.raises(InvalidInput, match="belongs to the computer itself"):
        house.install_quietly("maintenance")
    # Nor does it hear of what was said with it.
    house.chat("/maintenance What does my doctor say?")
    house.chat("An ordinary chat.")
    titles = house.value("/api/diary/chats")["titles"]
    assert "An ordinary chat." in titles
    assert not [title for title in titles if "doctor" in title]


def test_a_message_that_is_put_into_a_turn_calls_nobody(house: House) -> None:
    before, gate = house.of_maintenance(), Gate()
    house.model.script(hold(gate, text("One.")), text("Two."))
    with house.streaming("Hello!") as session:
        gate.wait_reached()
        path = f"/api/chat/{session}/inject"
        assert house.post(path, json={"message": "/maintenance Look."}, headers=house.headers).status_code == 200
        gate.open()
    assert house.of_maintenance() == before
    assert not any(PROMPT in str(request.body.get("system")) for request in house.model.conversation[-2:])


def test_only_the_owner_calls_it_or_goes_on_with_it(house: House) -> None:
    def key(*scopes: str) -> dict[str, str]:
        _, secret = Keys(house.home.root).create(f"phone {token_hex(4)}", [Scope.parse(scope) for scope in scopes])
        return {"authorization": f"Bearer {secret}"}

    session = house.chat("/maintenance Hello.")[-1]["sessionId"]
    before, asked = house.sessions(), len(house.model.conversation)
    talker, owner = key("chat:write"), key("*:admin")
    page = {"sec-fetch-site": "same-origin", "origin": house.url}
    for headers in (talker, page):
        for body in ({"message": "/maintenance Look."}, {"message": "Go on.", "sessionId": session}):
            answer = house.post("/api/chat", json=body, headers=headers)
            assert (answer.status_code, answer.json().get("key")) == (403, "not_owner"), answer.text
    assert [each["id"] for each in house.sessions()] == [each["id"] for each in before]
    assert len(house.model.conversation) == asked
    assert house.post("/api/chat", json={"message": "Hello."}, headers=talker).status_code == 200
    assert house.post("/api/chat", json={"message": "/maintenance Look."}, headers=owner).status_code == 200


def test_what_it_does_not_take(house: House) -> None:
    body = {"message": "/maintenance Look.", "attachments": [{"fileName": "a.txt", "base64Data": "eA=="}]}
    answer = house.post("/api/chat", json=body, headers=house.headers)
    assert (answer.status_code, "attachments" in answer.json()["detail"]) == (422, True)


def test_it_stops_with_all_others(house: House) -> None:
    assert house.command("panic").returncode == 0
    stopped = house.command("maintenance", "Look.")
    assert (stopped.returncode, "All agents are stopped since" in stopped.stderr) == (1, True)
    assert house.command("resume").returncode == 0
    assert house.command("maintenance", "Look.").returncode == 0


def test_copies_that_a_killed_core_left_are_removed(house: House) -> None:
    gate = Gate()
    house.model.script(hold(gate))
    folder = house.home.root / "run" / "maintenance"
    with house.streaming("/maintenance Look."):
        gate.wait_reached()
        assert (next(folder.iterdir()) / "core.log").exists()
        house.kill_core()
    assert not folder.exists()
    gate.open()
