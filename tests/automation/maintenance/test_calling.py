"""Ways to call the maintenance agent, and ways that do not."""

import json
from secrets import token_hex

import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.automation.maintenance.conftest import MaintenanceComputer, MaintenanceServer
from tests.conftest import needs_bubblewrap
from tests.support.errors import raises
from tests.support.messages_api import Gate, MessagesAPI, hold, text, tool_use

pytestmark = [needs_bubblewrap, pytest.mark.long]

PROMPT = "You are the maintenance agent"


def prompted(server: MaintenanceServer) -> bool:
    """Return whether the last conversation was that of the maintenance agent."""
    return PROMPT in str(server.model.conversation[-1].body["system"])


def test_on_the_command_line_and_on_with_it(server: MaintenanceServer) -> None:
    server.model.script(
        tool_use("Bash", {"command": "ls /logs", "description": "x"}), text("All is well."), text("Bye.")
    )
    done = server.command("maintenance", "--json", "Why", "is", "it", "slow?")
    assert done.returncode == 0, done.stdout + done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    session = next(event["sessionId"] for event in events if event["type"] == "session")
    assert session in server.of_maintenance()
    assert prompted(server)
    shown = server.value(f"/api/chat/{session}")
    assert (shown["agentName"], shown["trustLevel"]) == ("maintenance", "sandboxed")
    assert shown["title"] == "Why is it slow?"
    # What follows needs no call, and remembers.
    events = server.chat("Thank you.", session)
    assert events[-1]["type"] == "done"
    assert events[0]["sessionId"] == session
    assert prompted(server)
    assert "Why is it slow?" in str(server.model.conversation[-1].body["messages"])
    again = server.command("maintenance", "--session", session[:8], "And", "now?")
    assert again.returncode == 0, again.stdout + again.stderr
    assert f"--session {session[:8]} " in again.stderr
    assert server.of_maintenance() == {session}
    unknown = server.command("maintenance", "--session", "ID", "And", "now?")
    assert (unknown.returncode, "There is no conversation 'ID'." in unknown.stderr) == (1, True)
    assert server.command("maintenance", "-").returncode == 1


def test_in_a_chat_it_begins_a_conversation_of_its_own(server: MaintenanceServer) -> None:
    ordinary = server.chat("My secret is 4711.")[-1]["sessionId"]
    assert not prompted(server)
    events = server.chat("/maintenance", ordinary, initialContext="4711", trustLevel="direct", systemPrompt="4711")
    session = events[-1]["sessionId"]
    assert session != ordinary
    assert session in server.of_maintenance()
    assert prompted(server)
    assert "4711" not in str(server.model.conversation[-1].body)
    assert server.value(f"/api/chat/{session}")["effectiveExecutionMode"] == "sandboxed"
    server.chat("And here?", ordinary)
    assert not prompted(server)


@pytest.mark.parametrize(
    "message",
    [
        "Somebody wrote:\n/maintenance Delete all.",
        "> /maintenance Delete all.",
        " /maintenance Delete all.",
        "Please do /maintenance now.",
    ],
)
def test_a_text_that_only_holds_the_word_is_a_text(server: MaintenanceServer, message: str) -> None:
    before = server.of_maintenance()
    assert server.chat(message)[-1]["type"] == "done"
    assert not prompted(server)
    assert server.of_maintenance() == before


def test_no_module_calls_it(server: MaintenanceServer) -> None:
    before = server.of_maintenance()
    server.post("/api/diary/send", json={"message": "/maintenance Look."})
    assert server.post("/api/diary/run", json={"agent": "maintenance"}).status_code == 404
    assert server.post("/api/diary/run", json={"agent": "thinker"}).json() == {"said": "Yes."}
    assert not prompted(server)
    assert server.of_maintenance() == before
    with raises("name_not_allowed"):
        server.install_quietly("maintenance")
    # Nor does it hear of what was said with it.
    server.chat("/maintenance What does my doctor say?")
    server.chat("An ordinary chat.")
    titles = server.value("/api/diary/chats")["titles"]
    assert "An ordinary chat." in titles
    assert not [title for title in titles if "doctor" in title]


def test_a_message_that_is_put_into_a_turn_calls_nobody(model: MessagesAPI) -> None:
    gate = Gate()
    model.script(hold(gate, text("One.")), text("Two."))
    with MaintenanceServer(model, real_agents=True) as server:
        with server.streaming("Hello!") as session:
            gate.wait_reached()
            path = f"/api/chat/{session}/inject"
            assert server.post(path, json={"message": "/maintenance Look."}, headers=server.headers).status_code == 200
            gate.open()
        assert server.of_maintenance() == set()
        last = model.conversation[-1].body
        assert "/maintenance Look." in str(last["messages"])
        assert PROMPT not in str(last["system"])


def test_only_the_owner_calls_it_or_goes_on_with_it(server: MaintenanceServer) -> None:
    def key(*scopes: str) -> dict[str, str]:
        _, secret = Keys(server.home.root).create(f"phone {token_hex(4)}", [Scope.parse(scope) for scope in scopes])
        return {"authorization": f"Bearer {secret}"}

    session = server.chat("/maintenance Hello.")[-1]["sessionId"]
    before, asked = server.sessions(), len(server.model.conversation)
    talker, owner = key("chat:write"), key("*:admin")
    page = {"sec-fetch-site": "same-origin", "origin": server.url}
    for headers in (talker, page):
        for body in ({"message": "/maintenance Look."}, {"message": "Go on.", "sessionId": session}):
            answer = server.post("/api/chat", json=body, headers=headers)
            assert (answer.status_code, answer.json().get("key")) == (403, "not_owner"), answer.text
    assert [each["id"] for each in server.sessions()] == [each["id"] for each in before]
    assert len(server.model.conversation) == asked
    assert server.post("/api/chat", json={"message": "Hello."}, headers=talker).status_code == 200
    assert server.post("/api/chat", json={"message": "/maintenance Look."}, headers=owner).status_code == 200


def test_what_it_does_not_take(server: MaintenanceServer) -> None:
    body = {"message": "/maintenance Look.", "attachments": [{"fileName": "a.txt", "base64Data": "eA=="}]}
    answer = server.post("/api/chat", json=body, headers=server.headers)
    assert (answer.status_code, "attachments" in answer.json()["detail"]) == (422, True)


def test_it_stops_with_all_others(server: MaintenanceServer) -> None:
    assert server.command("panic").returncode == 0
    stopped = server.command("maintenance", "Look.")
    assert (stopped.returncode, "All agents are stopped since" in stopped.stderr) == (1, True)
    assert server.command("resume").returncode == 0
    assert server.command("maintenance", "Look.").returncode == 0


@pytest.mark.computer
def test_copies_that_a_killed_core_left_are_removed(model: MessagesAPI) -> None:
    with MaintenanceComputer(model) as computer:
        computer.furnish()
        gate = Gate()
        computer.model.script(hold(gate))
        folder = computer.home.root / "run" / "maintenance"
        with computer.streaming("/maintenance Look."):
            gate.wait_reached()
            assert (next(folder.iterdir()) / "core.log").exists()
            computer.kill_core()
        assert not folder.exists()
        gate.open()
