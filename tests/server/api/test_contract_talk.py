"""Requests of the app during an answer, its MCP servers, and conversations of Claude Code (contract, sections 2, 5, 7)."""

import sys
from typing import Any

import httpx2
import pytest

from tests.capabilities.mcp_servers.programs import plain
from tests.capabilities.mcp_servers.remote_servers import RemoteServer
from tests.chat.claude_code_import.writing import talk as talk_of
from tests.chat.claude_code_import.writing import write
from tests.contract import claude_code, mcps, models
from tests.contract.responses import check_error, check_response
from tests.support.computer import Computer
from tests.support.messages_api import Gate, MessagesAPI, hold, text, tool_use
from tests.support.sse import chat

BODYLESS = {"content-type": "application/json"}
QUESTION = {
    "question": "Tea or coffee?",
    "header": "Drink",
    "options": [{"label": "Tea", "description": "Green"}, {"label": "Coffee", "description": "Black"}],
    "multiSelect": False,
}


async def test_a_question_is_shown_again_and_answered(owner: httpx2.AsyncClient, model: MessagesAPI) -> None:
    model.script(tool_use("AskUserQuestion", {"questions": [QUESTION]}), text("Tea it is."))
    async with chat(owner, "What shall I drink?") as stream:
        asked = await stream.until("user_question")
        path = f"/api/chat/{asked['sessionId']}"
        pending = check_response(models.PendingQuestions, await owner.get(f"{path}/pending-questions")).pending
        assert [(each.request_id, len(each.questions or [])) for each in pending] == [(asked["requestId"], 1)]
        answers = {"request_id": "nobody-asked-this", "answers": {QUESTION["question"]: "Tea"}}
        check_error(await owner.post(f"{path}/answer", json=answers), 404)
        answers["request_id"] = asked["requestId"]
        assert (await owner.post(f"{path}/answer", json=answers)).status_code == 200
        await stream.collect()
    assert (await owner.get(f"{path}/pending-questions")).json() == {"pending": []}
    # After a reload the app reads the answer from the tool's result.
    transcript = check_response(models.Transcript, await owner.get(f"{path}/transcript?after_compact=true"))
    assert any("Tea" in str(event.message) for event in transcript.events if event.type == "user")


async def test_a_message_is_put_into_a_running_answer(owner: httpx2.AsyncClient, model: MessagesAPI) -> None:
    gate = Gate()
    model.script(hold(gate, text("Late.")))
    try:
        async with chat(owner, "Wait.") as stream:
            session = (await stream.until("session"))["sessionId"]
            await gate.reached()
            injected = await owner.post(f"/api/chat/{session}/inject", json={"message": "And sugar."})
            assert injected.status_code == 200
            assert (await owner.post(f"/api/chat/{session}/abort", headers=BODYLESS)).status_code == 200
            await stream.collect()
    finally:
        gate.open()
    check_error(await owner.post(f"/api/chat/{session}/inject", json={"message": "Hello?"}), 404)


async def test_servers_of_the_owner(installation: Computer, owner: httpx2.AsyncClient) -> None:
    program = installation.folder / "server.py"
    program.write_text(plain('TOOLS = [{"name": "act", "description": "Acts.", "inputSchema": {"type": "object"}}]'))
    added = {"name": "notes", "command": sys.executable, "args": [str(program)]}
    assert (await owner.post("/api/mcps", json=added)).status_code in (200, 201)
    check_error(await owner.post("/api/mcps", json=added), 409)
    with RemoteServer() as elsewhere:
        remote = {"name": "elsewhere", "url": elsewhere.url}
        assert (await owner.post("/api/mcps", json=remote)).status_code in (200, 201)
        listed = check_response(mcps.ServerList, await owner.get("/api/mcps"), present=["servers"]).servers
        shown = {each.name: (each.display_type, each.display_command, each.builtin) for each in listed}
        assert shown["notes"] == ("stdio", f"{sys.executable} {program}", False)
        assert shown["elsewhere"] == ("http", elsewhere.url, False)
        assert shown["parachute"][2] is True
        for name in ("notes", "elsewhere"):
            trial = await owner.post(f"/api/mcps/{name}/test", headers=BODYLESS)
            assert check_response(mcps.Trial, trial).status in ("ok", "connected"), trial.text
            tools = check_response(mcps.ToolList, await owner.get(f"/api/mcps/{name}/tools"))
            assert (tools.error, bool(tools.tools)) == (None, True)
            assert (await owner.delete(f"/api/mcps/{name}")).status_code == 200
    check_error(await owner.delete("/api/mcps/parachute"), 403)
    check_error(await owner.delete("/api/mcps/notes"), 404)


async def test_conversations_of_claude_code(installation: Computer, owner: httpx2.AsyncClient) -> None:
    path = "/api/claude-code"
    known = write(installation.folder / ".claude", "/kitchen", *talk_of("/kitchen"))
    recent = check_response(claude_code.ClaudeCodeSessions, await owner.get(f"{path}/recent?limit=100"))
    (found,) = [each for each in recent.sessions if each.session_id == known]
    assert (found.cwd, found.message_count, found.model) == ("/kitchen", 2, "claude-opus-4-5")
    projects = check_response(claude_code.ClaudeCodeProjects, await owner.get(f"{path}/projects")).projects
    (place,) = [each for each in projects if each.path == "/kitchen"]
    assert (place.encoded_name, place.session_count) == ("-kitchen", 1)
    listed = check_response(claude_code.ClaudeCodeSessions, await owner.get(f"{path}/sessions?path=/kitchen"))
    assert [each.session_id for each in listed.sessions] == [known]
    details = await owner.get(f"{path}/sessions/{known}?path=/kitchen")
    assert [each.content for each in check_response(claude_code.ClaudeCodeDetails, details).messages] == [
        "Which kettle?",
        "The red one.",
    ]
    adopted = await owner.post(f"{path}/adopt/{known}?path=/kitchen", headers=BODYLESS)
    first = check_response(claude_code.ClaudeCodeAdoption, adopted)
    assert (first.success, first.already_adopted) == (True, False)
    body = {"workingDirectory": "/kitchen"}
    again = check_response(
        claude_code.ClaudeCodeAdoption, await owner.post(f"{path}/adopt/{known}?path=/kitchen", json=body)
    )
    assert (again.already_adopted, again.parachute_session_id) == (True, first.parachute_session_id)
    check_response(models.SessionWithMessages, await owner.get(f"/api/chat/{first.parachute_session_id}"))
    check_error(await owner.get(f"{path}/sessions/0d6a3f0e-6c1d-4a35-9d5c-0f0c8a1b2c3d?path=/kitchen"), 404)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/migration/scan", None),
        ("POST", "/api/migration/all", {"copyTranscripts": True}),
        ("POST", "/api/migration/session/s1", {"copyTranscript": True}),
    ],
)
async def test_what_is_gone_answers_404(
    owner: httpx2.AsyncClient, method: str, path: str, body: dict[str, Any] | None
) -> None:
    check_error(await owner.request(method, path, json=body), 404)
