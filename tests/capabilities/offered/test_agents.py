"""Agents in conversations, with the real program of the agent: they answer, and get work from another."""

from typing import Any

import pytest

from tests.capabilities.offered.conftest import write
from tests.chat.runs.answers import answered, ended
from tests.conftest import needs_bubblewrap
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use

pytestmark = [needs_bubblewrap, pytest.mark.long]

SAILOR = "---\nname: sailor\ndescription: Knows the sea.\ntools: [Read, Grep, Bash]\nmodel: claude-haiku-4-5\npermissions: {bash: [ls]}\n---\nYou are a SAILOR-MARK.\n"


def offered(api: MessagesAPI, name: str = "sailor") -> bool:
    return f"- {name}: " in str(api.conversation[-1].body)


async def test_an_agent_of_the_app_answers_with_its_prompt_tools_and_model(
    house: ModuleServer, api: MessagesAPI
) -> None:
    api.default(text("Done."))
    async with house.client() as client:
        body = {"name": "sailor", "prompt": "You are a SAILOR-MARK.", "tools": ["Read"], "model": "claude-haiku-4-5"}
        made = await client.post("/api/agents", json=body)
        assert made.status_code == 200, made.text
        for fields in ({}, {"trustLevel": "direct"}):
            stream = await answered(client, agentPath=made.json()["agent"]["path"], **fields)
            sent = api.conversation[-1].body
            assert "SAILOR-MARK" in str(sent["system"])
            assert [tool["name"] for tool in sent["tools"]] == ["Read"]
            assert sent["model"] == "claude-haiku-4-5"
            (shown,) = stream.of_type("prompt_metadata")
            assert (shown["promptSource"], shown["agentName"]) == ("agent", "sailor")
            assert stream.of_type("warning") == []


async def test_an_agent_gets_work_and_has_fewer_tools_never_more(house: ModuleServer, api: MessagesAPI) -> None:
    write(house.vault / ".claude/agents/sailor.md", SAILOR.replace("SAILOR", "MATE"))

    def answer(body: dict[str, Any]) -> Reply:
        is_result = "tool_result" in str(body["messages"][-1])
        if "MATE-MARK" in str(body["system"]):
            return text("Ahoy.") if is_result else tool_use("Bash", {"command": "ls"})
        task = {"description": "Look", "prompt": "Look.", "subagent_type": "sailor"}
        return text("Done.") if is_result else tool_use("Agent", task)

    api.default(answer)
    async with house.client() as client:
        stream = await answered(client)
    assert stream.of_type("prompt_metadata")[0]["availableAgents"] == ["sailor"]
    assert (ended(stream)["type"], stream.of_type("tool_result")[0]["content"]) == ("done", "Ahoy.")
    (first, *_) = [each.body for each in api.conversation if "MATE-MARK" in str(each.body["system"])]
    # Its list of commands cannot be held in there, so that it has no commands.
    assert {tool["name"] for tool in first["tools"]} == {"Read", "Grep"}
    assert first["model"] == "claude-haiku-4-5"


async def test_agents_are_filtered_by_the_workspace(house: ModuleServer, api: MessagesAPI) -> None:
    api.default(text("Done."))
    write(house.vault / ".claude/agents/sailor.md", SAILOR)
    async with house.client() as client:
        for choice, expected in (("all", True), ("none", False), (["sailor"], True), (["other"], False)):
            body = {"name": f"A {choice}", "capabilities": {"agents": choice}}
            slug = (await client.post("/api/workspaces", json=body)).json()["workspace"]["slug"]
            stream = await answered(client, workspaceId=slug)
            assert offered(api) == expected, choice
            assert stream.of_type("prompt_metadata")[0]["availableAgents"] == (["sailor"] if expected else [])


async def test_direct_conversations_have_the_agents_that_the_owner_approved(
    house: ModuleServer, api: MessagesAPI
) -> None:
    api.default(text("Done."))
    path = write(house.vault / ".claude/agents/cook.md", SAILOR.replace("sailor", "cook"))
    async with house.client() as client:
        stream = await answered(client, trustLevel="direct")
        assert not offered(api, "cook")
        assert "parachute agents approve cook" in str(stream.of_type("warning"))
        (item,) = [each for each in (await client.get("/api/inbox")).json()["items"] if each["kind"] == "chat_agent"]
        assert "SAILOR-MARK" in item["details"]["diff"]
        answer = {"id": item["id"], "hash": item["hash"], "answer": "approve"}
        decided = await client.post("/api/inbox/answer", json=answer)
        assert decided.status_code == 200, decided.text
        await answered(client, trustLevel="direct")
        assert offered(api, "cook")
        path.write_text(path.read_text() + "Obey me.")
        await answered(client, trustLevel="direct")
        assert not offered(api, "cook")
        kinds = {each["kind"] for each in (await client.get("/api/inbox")).json()["items"]}
        assert "prompt" in kinds
        assert "chat_agent" not in kinds


async def test_agents_and_skills_of_a_project_are_those_of_its_conversations(
    house: ModuleServer, api: MessagesAPI
) -> None:
    api.default(text("Done."))
    write(house.vault / "Projects/boat/.claude/agents/mate.md", "---\ndescription: Helps.\n---\nYou are a mate.")
    write(house.vault / "Projects/boat/.claude/skills/knots/SKILL.md", "---\ndescription: Ties knots.\n---\nTie.")
    async with house.client() as client:
        stream = await answered(client)
        assert not offered(api, "mate")
        stream = await answered(client, workingDirectory="Projects/boat")
        assert offered(api, "mate")
        (shown,) = stream.of_type("prompt_metadata")
        assert (shown["availableAgents"], shown["availableSkills"]) == (["mate"], ["knots"])
        assert "skills:knots: Ties knots." in str(api.conversation[-1].body)
