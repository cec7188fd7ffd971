"""A plugin of somebody and an MCP server elsewhere in containers: each kind of part works there, and a workspace can do without."""

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tests.appliance.agents import Agents
from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.support.sse import text_of

WRITE = """
from pathlib import Path
from tests.capabilities.plugins.building import write_plugin
from tests.modules.registry.building import Repository
folder = Path.home() / "demo-plugin"
made = Repository(folder)
write_plugin(folder)
(folder / "scripts/hook.sh").write_text("#!/bin/sh\\necho hooked > /tmp/hooked\\n")
made.commit()
"""
SECRET = "s3cr3t-of-the-owner"


@pytest.fixture(scope="module")
def workspace(agents: Agents, built: dict[str, Any]) -> Iterator[str]:
    """A workspace with everything, and a plugin whose programs are approved."""
    agents.run(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -c {shlex.quote(WRITE)}")
    agents.run(f"parachute plugins install file://{agents.home}/demo-plugin --yes")
    agents.run("parachute plugins approve demo-plugin --yes")
    yield str(json.loads(agents.run("parachute workspaces create Everything --json"))["slug"])
    agents.run("parachute plugins remove demo-plugin; rm -rf ~/demo-plugin")


def test_each_part_of_a_plugin_works(agents: Agents, workspace: str) -> None:
    given = {"workspaceId": workspace}
    said = agents.say("cat /tmp/hooked; /plugins/demo/skills/greet/scripts/say.sh; ls /plugins/demo", **given)
    assert text_of(said).split()[:2] == ["hooked", "SAID"]
    session = said[-1]["sessionId"]

    def called(message: str) -> str:
        events = agents.answered(message, session)
        assert events[-1]["type"] == "done", events[-1]
        return text_of(events)

    assert called("call: mcp__demo-plugin-words__act {}") == "The plugin's file says: boat"
    assert called('call: Skill {"skill": "demo:greet"}') == "Launching skill: demo:greet"
    task = json.dumps({"subagent_type": "demo:reviewer", "description": "Look", "prompt": "Hello"})
    assert "Hello." in called(f"call: Task {task}")
    called("/demo:deploy now")
    assert agents.run("grep -rl 'DEPLOYBODY now' ~/Parachute/.claude/projects | wc -l") == "1"
    explained = json.loads(agents.run(f"parachute sandbox explain {session} --json"))
    assert [row for row in explained["rows"] if row["differs"]] == []


def test_a_workspace_without_plugins_has_nothing_of_it(agents: Agents, workspace: str) -> None:
    made = json.loads(agents.run("parachute workspaces create Bare --plugins none --json"))
    assert agents.output("ls /plugins; ls /tmp/hooked 2>/dev/null; echo end", workspaceId=made["slug"]) == "end"


def test_a_server_elsewhere_is_called_with_a_secret_that_the_container_has_not(agents: Agents, workspace: str) -> None:
    options = json.dumps({"header": ["Authorization", f"Bearer {SECRET}"]})
    with agents.serving("elsewhere", "tests.capabilities.mcp_servers.remote_program", options) as address:
        agents.run(f"echo {SECRET} | parachute mcp secret set NOTES")
        header = shlex.quote("Authorization: Bearer ${secret:NOTES}")
        agents.run(f"parachute mcp add notes --url {address} --header {header} --yes")
        events = agents.answered('call: mcp__notes__act {"text": "Buy milk"}', workspaceId=workspace)
        assert events[-1]["type"] == "done", events[-1]
        assert "Buy milk" in text_of(events)
        look = f"grep -rls {SECRET[:3]}'{SECRET[3:]}' /proc/*/environ /etc /home /run /tmp /scratch; env | grep -c {SECRET[:3]}'{SECRET[3:]}'; true"
        assert text_of(agents.say(look, events[-1]["sessionId"])) == "0"
    agents.run("parachute mcp remove notes")
