"""Plugins as the app installs, reads, updates and removes them, from a whole computer."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.capabilities.plugins.building import repository, write_files
from tests.capabilities.plugins.git_server import GitServer, git_server
from tests.contract.agents_and_skills import Agent, AgentList, Skill, SkillList
from tests.contract.plugins import PluginAgent, PluginEnvelope, PluginList, PluginSkill
from tests.contract.responses import check_error, check_response
from tests.modules.registry.building import Repository
from tests.support.installation import Installation
from tests.support.server import Server

HERE = Server

BODYLESS = {"content-type": "application/json"}
PRESENT = ["slug", "version", "description", "author", "source", "sourceUrl", "installedAt", "skills", "agents", "mcps"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """A git server."""
    with git_server(tmp_path_factory.mktemp("git")) as running:
        yield running


@pytest.fixture
def demo(tmp_path: Path) -> Repository:
    """A plugin of somebody."""
    return repository(tmp_path / "demo-plugin")


async def inbox(owner: httpx2.AsyncClient) -> list[dict[str, Any]]:
    """The items about plugins in the inbox."""
    items = (await owner.get("/api/inbox")).json()["items"]
    return [item for item in items if item["kind"] == "plugin"]


@pytest.mark.long
async def test_a_plugin_through_its_life(
    installation: Installation, owner: httpx2.AsyncClient, server: GitServer, demo: Repository
) -> None:
    url = server.publish(demo)
    answer = await owner.post("/api/plugins/install", json={"url": url})
    installed = check_response(PluginEnvelope, answer, present=[f"plugin.{name}" for name in PRESENT]).plugin
    assert (installed.slug, installed.source_url, installed.mcps) == ("demo-plugin", url, ["demo-plugin/words"])
    listed = check_response(PluginList, await owner.get("/api/plugins"))
    assert listed.plugins == [installed]
    skill = check_response(PluginSkill, await owner.get("/api/plugins/demo-plugin/skills/greet"))
    assert (skill.source, "SKILLBODY" in (skill.content or "")) == ("plugin", True)
    agent = check_response(PluginAgent, await owner.get("/api/plugins/demo-plugin/agents/reviewer"))
    assert (agent.tools, agent.system_prompt) == (["Read"], "You review texts.")
    await _in_the_lists_of_its_kinds(owner)
    # Its programs wait, and nothing else.
    (item,) = await inbox(owner)
    assert (item["details"]["part"], item["answers"]) == ("programs", ["approve", "reject"])
    assert any("hook UserPromptSubmit" in line for line in item["details"]["contains"])
    said = await owner.post("/api/inbox/answer", json={"id": item["id"], "hash": item["hash"], "answer": "approve"})
    assert said.status_code == 200, said.text
    assert await inbox(owner) == []
    servers = {each["name"]: each for each in (await owner.get("/api/mcps")).json()["servers"]}
    assert servers["demo-plugin/words"]["state"] == "approved"
    tools = (await owner.get("/api/mcps/demo-plugin%2Fwords/tools")).json()
    assert [tool["name"] for tool in tools["tools"] or [{"name": tools}]] == ["act"]
    trial = (await owner.post("/api/mcps/demo-plugin/words/test", headers=BODYLESS)).json()
    assert trial["status"] == "ok", trial
    check_error(await owner.delete("/api/mcps/demo-plugin%2Fwords"), 403, "belongs to the plugin")
    assert (await owner.get("/api/plugins/demo-plugin/check-update")).json()["update_available"] is False
    unchanged = await owner.post("/api/plugins/demo-plugin/update", headers=BODYLESS)
    assert (check_response(PluginEnvelope, unchanged).plugin, unchanged.json()["updated"]) == (installed, False)
    await _updated(owner, server, demo)
    assert (await owner.delete("/api/plugins/demo-plugin")).status_code == 200
    assert check_response(PluginList, await owner.get("/api/plugins")).plugins == []
    check_error(await owner.get("/api/plugins/demo-plugin"), 404)

    def audit() -> str:
        return "".join(path.read_text() for path in (installation.vault / ".parachute/audit").glob("*.jsonl"))

    events = ("plugin_installed", "plugin_approved", "plugin_updated", "plugin_removed")
    installation.wait_until(lambda: all(event in audit() for event in events), "all of it is in the audit")


async def _in_the_lists_of_its_kinds(owner: httpx2.AsyncClient) -> None:
    """With its name before theirs, and to be removed with it only."""
    agents = check_response(AgentList, await owner.get("/api/agents")).agents
    assert [(each.name, each.path) for each in agents if each.source == "plugin"] == [("demo:reviewer", None)]
    agent = check_response(Agent, await owner.get("/api/agents/demo:reviewer"))
    assert (agent.system_prompt, agent.tools) == ("You review texts.", ["Read"])
    skills = check_response(SkillList, await owner.get("/api/skills")).skills
    assert [each.name for each in skills if each.source == "plugin"] == ["demo:greet"]
    skill = check_response(Skill, await owner.get("/api/skills/demo:greet"))
    assert "SKILLBODY" in (skill.content or "")
    check_error(await owner.delete("/api/agents/demo:reviewer"), 403, "belongs to a plugin")
    check_error(await owner.delete("/api/skills/demo:greet"), 403, "belongs to a plugin")


async def _updated(owner: httpx2.AsyncClient, server: GitServer, demo: Repository) -> None:
    write_files(demo.folder, {".mcp.json": json.dumps({"other": {"command": "sh"}})})
    demo.commit()
    server.publish(demo)
    found = (await owner.get("/api/plugins/demo-plugin/check-update")).json()
    assert (found["update_available"], found["latest"]) == (True, demo.git("rev-parse", "HEAD").strip())
    changes = (await owner.post("/api/plugins/demo-plugin/changes")).json()
    assert [change["path"] for change in changes["files"]] == [".mcp.json"]
    assert changes["rights"]["added"] == ["MCP server demo-plugin/other: sh"]
    wrong = await owner.post("/api/plugins/demo-plugin/update", json={"hash": f"sha256:{'0' * 64}"})
    check_error(wrong, 409)
    answer = await owner.post("/api/plugins/demo-plugin/update", json={"hash": changes["hash"]})
    assert check_response(PluginEnvelope, answer).plugin.mcps == ["demo-plugin/other"]
    (item,) = await inbox(owner)
    rejected = {"id": item["id"], "hash": item["hash"], "answer": "reject"}
    assert (await owner.post("/api/inbox/answer", json=rejected)).status_code == 200
    assert await inbox(owner) == []
    body = {"hash": changes["hash"], "parts": ["texts", "programs"]}
    approved = (await owner.post("/api/plugins/demo-plugin/approve", json=body)).json()
    assert approved["plugin"]["approved"] == {"texts": True, "programs": True}


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        "x",
        None,
        {"url": 7},
        {"url": ""},
        {"url": "file:///etc"},
        {"url": "/etc"},
        {"url": "https://a@example.com/x"},
        {"url": "http://127.0.0.1:1/x"},
        {"url": "https://example.com/x", "slug": "../x"},
        {"url": "https://example.com/x", "slug": 7},
        {"url": "https://example.com/x", "more": 7},
    ],
)
async def test_what_cannot_be_installed(installation: Installation, owner: httpx2.AsyncClient, body: Any) -> None:
    check_error(await owner.post("/api/plugins/install", json=body), 400)
    assert (await owner.get("/api/plugins")).json()["plugins"] == []


async def test_only_the_owner_installs(installation: Installation, owner: httpx2.AsyncClient) -> None:
    made = (await owner.post("/api/auth/keys", json={"label": "Phone with plugins"})).json()
    async with installation.client(headers={"x-api-key": made["key"]}) as phone:
        assert (await phone.get("/api/plugins")).status_code == 200
    async with installation.client(headers={"origin": "http://evil.example"}) as page:
        assert (await page.post("/api/plugins/install", json={"url": "https://example.com/x"})).status_code in (
            401,
            403,
        )
