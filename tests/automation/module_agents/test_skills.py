"""Skills of modules' agents: only where the manifest's flag says so, and the user has read it."""

import json
from collections.abc import Iterator

import pytest
import yaml

from tests.conftest import needs_bubblewrap
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = [needs_bubblewrap, pytest.mark.long]

BODY = """
@route("POST", "/run")
async def run(self, agent: str):
    return {"text": await self.run_agent(agent, "When is high water?")}
"""
AGENTS = {
    "skilled": {"capabilities": ["read"], "bash": True, "allow_user_skills": True},
    "plain": {"capabilities": ["read", "skill"], "bash": True, "allow_workspace_skills": True},
}
SKILL = "---\nname: tides\ndescription: Reads tide tables.\n---\nLook it up for $ARGUMENTS.\n"


@pytest.fixture(scope="module")
def server(model: MessagesAPI) -> Iterator[ModuleServer]:
    """A server with a skill and a module; skills are the real program's."""
    with ModuleServer(environment=model.credentials, real_agents=True) as running:
        folder = running.vault / ".claude/skills/tides"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL)
        running.install("letters", BODY, agents=AGENTS)
        yield running


def run(server: ModuleServer, agent: str, module: str = "letters") -> str:
    """Return the answer of the agent."""
    answer = server.post(f"/api/{module}/run", json={"agent": agent})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["text"])


def tools(model: MessagesAPI) -> set[str]:
    """The tools that the model was offered last."""
    return {tool["name"] for tool in model.conversation[-1].body["tools"]}


def test_an_agent_with_the_flag_uses_a_skill(server: ModuleServer, model: MessagesAPI) -> None:
    model.script(
        tool_use("Skill", {"skill": "skills:tides", "args": "today"}),
        tool_use("Bash", {"command": 'python3 -c \'open("/plugins/skills/new", "w")\' 2>&1'}),
        text("At noon."),
    )
    assert run(server, "skilled") == "At noon."
    said = json.dumps(model.conversation[-1].body)
    assert "Look it up for today." in said
    assert "Read-only file system" in said
    agents = {agent["name"]: agent["skills"] for agent in server.module("letters")["permissions"]["agents"]}
    assert agents == {"skilled": True, "plain": False}


def test_others_have_none(server: ModuleServer, model: MessagesAPI) -> None:
    model.script(tool_use("Bash", {"command": "ls /plugins 2>&1"}), text("I do not know."))
    run(server, "plain")
    assert "Skill" not in tools(model)
    assert "tides" not in json.dumps(model.conversation[-1].body)
    server.install("stranger", BODY, untrusted=True, agents=AGENTS)
    model.script(text("I do not know."))
    run(server, "skilled", "stranger")
    assert "Skill" not in tools(model)


def test_a_consent_that_did_not_speak_of_skills_gives_none(server: ModuleServer, model: MessagesAPI) -> None:
    server.install("older", BODY, agents=AGENTS)
    path = server.home.root / "modules.yaml"
    document = yaml.safe_load(path.read_text())
    for agent in document["modules"]["older"]["permissions"]["agents"]:
        del agent["skills"]
    path.write_text(f"{yaml.safe_dump(document)}...\n")
    server.reload()
    model.script(text("I do not know."))
    run(server, "skilled", "older")
    assert "Skill" not in tools(model)
