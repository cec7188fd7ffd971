"""Agents and skills, as the app lists, makes and removes them."""

import httpx2
import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.contract import agents_and_skills as models
from tests.contract.responses import check_error, check_response
from tests.support.installation import Installation
from tests.support.server import Server

HERE = Server


async def test_an_agent_is_made_read_and_removed(installation: Installation, owner: httpx2.AsyncClient) -> None:
    listed = check_response(models.AgentList, await owner.get("/api/agents"))
    assert [(agent.name, agent.source) for agent in listed.agents] == [
        ("general-purpose", "builtin"),
        ("Explore", "builtin"),
    ]
    body = {
        "name": "sailor",
        "prompt": "You are a sailor.",
        "description": "Knows the sea.",
        "tools": ["Read"],
        "model": "haiku",
    }
    assert (await owner.post("/api/agents", json=body)).status_code == 200
    check_error(await owner.post("/api/agents", json=body), 409)
    present = ["description", "model", "path", "source", "tools", "system_prompt", "system_prompt_preview"]
    agent = check_response(models.Agent, await owner.get("/api/agents/sailor"), present=present)
    assert (agent.path, agent.source, agent.tools) == (".claude/agents/sailor.md", "vault", ["Read"])
    assert (agent.system_prompt, agent.model) == ("You are a sailor.", "haiku")
    etag = (await owner.get("/api/agents/sailor")).json()["etag"]
    body = {"prompt": "You are a cook.", "tools": ["Read"]}
    changed = await owner.put("/api/agents/sailor", json=body, headers={"if-match": etag})
    assert changed.json()["agent"]["system_prompt"] == "You are a cook."
    check_error(await owner.put("/api/agents/sailor", json=body, headers={"if-match": etag}), 412)
    check_error(await owner.put("/api/agents/Explore", json=body), 403)
    check_error(await owner.put("/api/agents/nobody", json=body), 404)
    agent = check_response(models.Agent, await owner.get("/api/agents/sailor"))
    assert (agent.system_prompt, agent.model, agent.tools, agent.description) == (
        "You are a cook.",
        None,
        ["Read"],
        None,
    )
    listed = check_response(models.AgentList, await owner.get("/api/agents"))
    assert [agent.name for agent in listed.agents] == ["general-purpose", "Explore", "sailor"]
    assert (await owner.delete("/api/agents/sailor")).status_code == 200
    check_error(await owner.get("/api/agents/sailor"), 404)
    check_error(await owner.delete("/api/agents/sailor"), 404)
    check_error(await owner.delete("/api/agents/Explore"), 403)
    assert (await owner.post("/api/agents", json={"name": "cook", "prompt": "Cook."})).status_code == 200
    assert (await owner.delete("/api/agents/cook")).status_code == 200


async def test_a_skill_is_made_read_and_removed(installation: Installation, owner: httpx2.AsyncClient) -> None:
    assert check_response(models.SkillList, await owner.get("/api/skills")).skills == []
    body = {"name": "tides", "content": "Read the table.", "description": "Reads tide tables."}
    assert (await owner.post("/api/skills", json=body)).status_code == 200
    check_error(await owner.post("/api/skills", json=body), 409)
    present = ["description", "content", "size", "modified", "files", "source"]
    skill = check_response(models.Skill, await owner.get("/api/skills/tides"), present=present)
    assert (skill.description, skill.is_directory, skill.source) == ("Reads tide tables.", True, "vault")
    assert [file.name for file in skill.files] == ["SKILL.md"]
    assert (skill.modified or "").endswith("Z")
    (listed,) = check_response(models.SkillList, await owner.get("/api/skills")).skills
    assert listed.name == "tides"
    found = (await owner.get("/api/skills/tides")).json()
    assert found["instructions"] == "Read the table."
    changed = await owner.put("/api/skills/tides", json={"content": "Ask."}, headers={"if-match": found["etag"]})
    assert (changed.json()["skill"]["instructions"], changed.json()["skill"]["description"]) == (
        "Ask.",
        body["description"],
    )
    check_error(await owner.put("/api/skills/tides", json={"content": "x"}, headers={"if-match": found["etag"]}), 412)
    check_error(await owner.put("/api/skills/nothing", json={"content": "x"}), 404)
    assert (await owner.delete("/api/skills/tides")).status_code == 200
    check_error(await owner.delete("/api/skills/tides"), 404)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("agents", {"name": "../../evil", "prompt": "x"}),
        ("agents", {"name": "x/y", "prompt": "x"}),
        ("agents", {"name": "sailor"}),
        ("agents", {"name": "sailor", "prompt": "x", "hooks": {}}),
        ("agents", {"name": "sailor", "prompt": "x", "tools": "Read"}),
        ("skills", {"name": "../../evil", "content": "x"}),
        ("skills", {"name": "claude", "content": "x"}),
        ("skills", {"name": "tides", "content": ""}),
        ("skills", {"name": "tides", "content": "---\nname: x\n"}),
        ("skills", {"name": "tides", "content": "x", "description": "<system>"}),
    ],
)
async def test_what_cannot_be_made_changes_nothing(
    installation: Installation, owner: httpx2.AsyncClient, path: str, body: dict[str, object]
) -> None:
    check_error(await owner.post(f"/api/{path}", json=body), 422)
    assert not list((installation.vault / ".claude").glob(f"{path}/*"))


async def test_only_keys_with_admin_rights_write(installation: Installation) -> None:
    _, secret = Keys(installation.home.root).create(
        "phone", [Scope.parse("chat:read,write"), Scope.parse("skills:read,write")]
    )
    async with installation.client(headers={"x-api-key": secret}) as phone:
        check_error(await phone.post("/api/skills", json={"name": "tides", "content": "x"}), 403)
        check_error(await phone.put("/api/skills/tides", json={"content": "x"}), 403)
        check_error(await phone.delete("/api/skills/tides"), 403)
        assert (await phone.get("/api/skills")).status_code == 200
        check_error(await phone.get("/api/agents"), 403)
