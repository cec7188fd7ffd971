"""The agent has the permissions left to its conversation, in real turns."""

from typing import Any

import pytest

from tests.chat.permissions.conftest import Talk
from tests.conftest import needs_bubblewrap
from tests.support.gate import Gate
from tests.support.messages_api import MessagesAPI, hold, several, text
from tests.support.sse import chat

pytestmark = [needs_bubblewrap, pytest.mark.long]


def tools(stream: Any) -> list[str]:
    """The tools that the agent's program has, as it says itself."""
    return sorted(stream.of_type("init")[0]["tools"])


def vault_rows(explained: dict[str, Any]) -> list[str]:
    """The folders of the vault that are in a sandbox."""
    names = (row["name"] for row in explained["rows"])
    return sorted(name for name in names if "/vault" in name)


async def test_a_folder_that_is_left_is_the_only_one_that_is_mounted(talk: Talk) -> None:
    first = await talk.say()
    assert "Bash" in tools(first)
    assert (await talk.use("Bash", command="ls /vault")).split() == ["Brain", "Daily", "Projects"]
    answer = await talk.permit(allowed_folders=["Brain/"], allowed_mcps=["brain-search"])
    left = {"allowed_folders": ["Brain"], "allowed_mcps": ["brain-search"]}
    assert answer["session"]["permissions"] == {
        "template": None,
        "capabilities": None,
        "network": None,
        "sandbox_override": None,
        **left,
    }
    assert (await talk.stored())["permissions"] == answer["session"]["permissions"]
    second = await talk.say()
    assert [name for name in tools(second) if name.startswith("mcp__")] == ["mcp__parachute__brain-search"]
    assert (await talk.use("Bash", command="ls /vault; cat /vault/Brain/people/kevin.md")).splitlines() == [
        "Brain",
        "Kevin moves to Berlin.",
    ]
    assert "No such file" in await talk.use("Bash", command="cat /vault/Daily/2026-01-01.md")
    assert "you can open only: /vault/Brain." in talk.prompt
    assert "servers you have only: mcp__parachute__brain-search." in talk.prompt
    assert "Words of the vault." not in talk.prompt
    # What was said before the change is still known.
    assert "Yes." in str(talk.api.conversation[-1].body["messages"])
    explained = await talk.explained()
    assert (explained["differs"], explained["permissions"]["allowed_folders"]) == (False, ["Brain"])
    assert [row for row in vault_rows(explained) if "Brain" not in row] == []
    await talk.permit(allowed_folders=None, allowed_mcps=None)
    assert (await talk.use("Bash", command="ls /vault")).split() == ["Brain", "Daily", "Projects"]


async def test_explain_shows_what_the_next_turn_has(talk: Talk) -> None:
    await talk.say()
    await talk.permit(allowed_folders=["Projects/ship"], sandbox_override={"processes": 170})
    explained = await talk.explained()
    assert vault_rows(explained)
    assert all("Projects/ship" in name for name in vault_rows(explained))
    assert explained["permissions"]["sandbox_override"] == {"processes": 170}
    assert (await talk.use("Bash", command="ulimit -u; ls /vault/*")).split() == ["170", "ship"]


async def test_a_tool_that_is_not_left_is_neither_offered_nor_obeyed(talk: Talk) -> None:
    await talk.say()
    await talk.permit(capabilities=["read"])
    stream = await talk.say()
    assert [name for name in tools(stream) if not name.startswith("mcp__")] == ["Glob", "Grep", "Read"]
    assert "Of all tools you have only: Read, Glob, Grep" in talk.prompt
    said = await talk.use("Bash", command="touch /tmp/made")
    assert "No such tool" in said or "may not use" in said
    assert "Kevin" in await talk.use("Read", file_path="/vault/Brain/people/kevin.md")


async def test_a_project_is_only_read_where_nothing_is_left_that_writes(talk: Talk) -> None:
    first = await talk.say(workingDirectory="Projects/ship")
    assert first.of_type("prompt_metadata")[0]["contextFiles"]
    await talk.permit(capabilities=["Read"], allowed_folders=["${CWD}"])
    await talk.say()
    assert "/vault/Projects/ship, which you can only read" in talk.prompt
    assert "Words of the ship." in talk.prompt
    assert "Words of the vault." not in talk.prompt
    (row,) = [row for row in (await talk.explained())["rows"] if "/vault/Projects/ship" in row["name"]]
    assert (row["differs"], row["asked"]) == (False, f"ro {talk.house.vault}/Projects/ship")


async def test_a_project_that_is_not_left_is_not_there(talk: Talk) -> None:
    await talk.say(workingDirectory="Projects/ship", contexts=["Projects/ship"])
    await talk.permit(allowed_folders=["Brain"])
    stream = await talk.say()
    (said,) = [each["message"] for each in stream.of_type("warning") if each["title"] == "Context"]
    assert said == "Projects/ship/AGENTS.md is in none of the folders that are left to this conversation."
    assert (await talk.use("Bash", command="ls /vault /project; pwd")).splitlines()[-1].startswith("/scratch/")
    assert "Words of the ship." not in talk.prompt
    await talk.permit(allowed_folders=[])
    assert "No such file" in await talk.use("Bash", command="ls /vault/Brain")
    assert "You can open none of the owner's folders" in talk.prompt


async def test_a_guest_has_the_tools_of_brain_and_nothing_else(talk: Talk) -> None:
    await talk.say()
    answer = await talk.permit(template="guest")
    assert answer["session"]["permissions"]["template"] == "guest"
    stream = await talk.say()
    assert tools(stream) == ["mcp__parachute__brain-search"]
    assert stream.of_type("prompt_metadata")[0]["availableAgents"] == []
    assert "You work in a sandbox without network." in talk.prompt
    assert "Mario" in await talk.use("mcp__parachute__brain-search", query="Mario")
    for tool, arguments in (
        ("mcp__parachute__brain-link", {"entity": "Mario"}),
        ("Read", {"file_path": "/etc/hostname"}),
        ("AskUserQuestion", {"questions": []}),
        ("Task", {"description": "x", "prompt": "x", "subagent_type": "Explore"}),
    ):
        said = await talk.use(tool, **arguments)
        assert "No such tool" in said or "may not use" in said or "has no tool" in said, (tool, said)


async def test_no_host_is_asked_about_where_none_is_left(talk: Talk) -> None:
    fetch = "curl -sS -m 20 http://api.example.org/ 2>&1; true"
    await talk.say()
    before = len((await talk.client.get("/api/inbox")).json()["items"])
    await talk.permit(network={"mode": "list", "hosts": []})
    said = await talk.use("Bash", command=fetch)
    assert "not on the list of allowed hosts" in said, said
    assert "No others are." in talk.prompt
    assert len((await talk.client.get("/api/inbox")).json()["items"]) == before


async def test_a_direct_conversation_opens_no_other_folder(talk: Talk) -> None:
    await talk.say(trustLevel="direct")
    vault = talk.house.vault
    refused = await talk.permit(403, allowed_folders=["Brain"])
    assert "cannot run directly" in refused["detail"]
    assert (await talk.stored())["permissions"]["allowed_folders"] is None
    await talk.permit(allowed_folders=["Brain"], capabilities=["Read", "Write"])
    await talk.say()
    assert f"you can open only: {vault / 'Brain'}" in talk.prompt
    assert "Kevin" in await talk.use("Read", file_path=str(vault / "Brain/people/kevin.md"))
    (vault / "Brain" / "out").symlink_to(vault / "Daily")
    for path in ("Daily/2026-01-01.md", "Brain/../Daily/2026-01-01.md", "Brain/out/2026-01-01.md"):
        assert "none of the folders" in await talk.use("Read", file_path=str(vault / path)), path
    assert "none of the folders" in await talk.use("Glob", pattern="**/*.md")
    assert "none of the folders" in await talk.use("Write", file_path="/tmp/elsewhere.md", content="x")
    (vault / "Brain" / "out").unlink()
    refused = await talk.permit(403, capabilities=["Read", "Bash"])
    assert refused["detail"].startswith("allowed_folders")
    refused = await talk.permit(403, sandbox_override={"cpus": 1})
    assert refused["detail"].startswith("sandbox_override")


async def test_a_limited_conversation_does_not_become_direct(talk: Talk, api: MessagesAPI) -> None:
    await talk.say()
    await talk.permit(allowed_folders=["Brain"])
    refused = await talk.permit(403, trustLevel="direct")
    assert "cannot run directly" in refused["detail"]
    answer = await talk.client.post(
        "/api/chat", json={"message": "Go.", "sessionId": talk.session, "trustLevel": "direct"}
    )
    assert answer.status_code == 403, answer.text
    assert (await talk.stored())["trustLevel"] == "sandboxed"


async def test_a_change_while_the_agent_works_holds_from_the_next_message_on(talk: Talk) -> None:
    gate = Gate()
    talk.api.script(several(text("I begin."), hold(gate)))
    async with chat(talk.client, "Begin.", session_id="new") as stream:
        await stream.until("text")
        talk.session = stream.of_type("session")[0]["sessionId"]
        await talk.permit(template="guest")
        gate.open()
        await stream.collect()
    assert "Bash" in tools(stream)
    assert tools(await talk.say()) == ["mcp__parachute__brain-search"]
    assert "I begin." in str(talk.api.conversation[-1].body["messages"])
