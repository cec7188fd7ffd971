"""A plugin in conversations, with the real program of the agent: each kind of part, filters, trust and changes on the disk."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.capabilities.plugins.building import repository
from tests.capabilities.plugins.git_server import GitServer, git_server
from tests.chat.runs.answers import answered, ended, session_of
from tests.conftest import needs_bubblewrap
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.sse import ChatStream

pytestmark = [needs_bubblewrap, pytest.mark.long]

WORDS = "mcp__demo-plugin-words__act"
SCRIPT = "/plugins/demo/skills/greet/scripts/say.sh"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    """A git server."""
    with git_server(tmp_path_factory.mktemp("git")) as running:
        yield running


@pytest.fixture
async def owner(house: ModuleServer) -> AsyncIterator[httpx2.AsyncClient]:
    """The owner."""
    async with house.client(headers={"authorization": f"Bearer {CliToken(house.home.root).obtain()}"}) as client:
        yield client


@pytest.fixture
async def installed(owner: httpx2.AsyncClient, server: GitServer, tmp_path: Path) -> dict[str, Any]:
    """The plugin as the app has installed it."""
    url = server.publish(repository(tmp_path / "demo-plugin"))
    answer = await owner.post("/api/plugins/install", json={"url": url})
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["plugin"])


async def approve(owner: httpx2.AsyncClient, plugin: dict[str, Any]) -> None:
    """Approve its programs."""
    body = {"hash": plugin["hash"], "parts": ["programs"]}
    answer = await owner.post(f"/api/plugins/{plugin['slug']}/approve", json=body)
    assert answer.status_code == 200, answer.text


def last(api: MessagesAPI) -> str:
    return json.dumps(api.conversation[-1].body)


def results(stream: ChatStream) -> list[str]:
    return [each["content"] for each in stream.of_type("tool_result")]


def warnings(stream: ChatStream) -> str:
    return "\n".join(event["message"] for event in stream.of_type("warning"))


async def test_only_texts_are_there_until_the_programs_are_approved(
    owner: httpx2.AsyncClient, installed: dict[str, Any], api: MessagesAPI
) -> None:
    api.script(
        tool_use("Skill", {"skill": "demo:greet"}),
        tool_use("Bash", {"command": "find /plugins/demo -type f -printf '%P\\n' | sort"}),
        text("Done."),
    )
    stream = await answered(owner)
    assert (ended(stream)["type"], warnings(stream)) == ("done", "")
    metadata = stream.of_type("prompt_metadata")[0]
    assert "demo:greet" in metadata["availableSkills"]
    assert "demo:reviewer" in metadata["availableAgents"]
    assert "SKILLBODY" in last(api)
    assert results(stream)[1].split() == [
        ".claude-plugin/plugin.json",
        "commands/deploy.md",
        "skills/greet/SKILL.md",
        "skills/greet/words.md",
    ]
    assert "HOOKSAID" not in last(api)
    assert WORDS not in last(api)
    api.default(text("Done."))
    await answered(owner, "/demo:deploy tomorrow", session_of(stream))
    assert "DEPLOYBODY tomorrow" in last(api)


async def test_approved_programs_run_in_sandboxes(
    house: ModuleServer, owner: httpx2.AsyncClient, installed: dict[str, Any], api: MessagesAPI
) -> None:
    await approve(owner, installed)
    made = await owner.post("/api/workspaces", json={"name": "With plugins"})
    workspace = {"workspaceId": made.json()["workspace"]["slug"]}
    api.script(
        tool_use("Bash", {"command": SCRIPT}),
        tool_use(WORDS, {}),
        tool_use("Task", {"subagent_type": "demo:reviewer", "description": "Review", "prompt": "Look."}),
        text("It is good."),
        text("Done."),
    )
    stream = await answered(owner, **workspace)
    assert (ended(stream)["type"], warnings(stream)) == ("done", "")
    said, word, review = results(stream)[:3]
    assert (said, word) == ("SAID", "The plugin's file says: boat")
    assert "It is good." in review
    assert any("You review texts." in json.dumps(each.body) for each in api.conversation)
    assert "HOOKSAID" in last(api)
    # Not with the owner's own rights: there the texts are all.
    api.script(
        tool_use("Bash", {"command": "ls -R $(dirname $(find / -name deploy.md 2>/dev/null | head -1))"}), text("Done.")
    )
    stream = await answered(owner, "/demo:deploy now", trustLevel="direct")
    assert ended(stream)["type"] == "done"
    assert "DEPLOYBODY now" in last(api)
    assert "HOOKSAID" not in last(api)


@pytest.mark.parametrize(
    ("capabilities", "has_folder"),
    [({"plugins": "none"}, False), ({"plugins": ["other"]}, False), ({"plugins": ["demo-plugin"]}, True)],
)
async def test_a_workspace_chooses_plugins(
    owner: httpx2.AsyncClient,
    installed: dict[str, Any],
    api: MessagesAPI,
    capabilities: dict[str, Any],
    has_folder: bool,
) -> None:
    await approve(owner, installed)
    made = await owner.post("/api/workspaces", json={"name": f"Choosy {capabilities}", "capabilities": capabilities})
    api.script(tool_use("Bash", {"command": "ls /plugins"}), text("Done."))
    stream = await answered(owner, workspaceId=made.json()["workspace"]["slug"])
    assert ("demo" in results(stream)[0]) is has_folder
    assert (WORDS in last(api)) is has_folder
    assert ("HOOKSAID" in last(api)) is has_folder
    assert any("reviewer" in name for name in stream.of_type("prompt_metadata")[0]["availableAgents"]) is has_folder


async def test_a_skill_that_is_filtered_out_is_not_in_the_sandbox(
    owner: httpx2.AsyncClient, installed: dict[str, Any], api: MessagesAPI
) -> None:
    made = await owner.post(
        "/api/workspaces", json={"name": "Plain", "capabilities": {"skills": "none", "agents": "none"}}
    )
    api.script(tool_use("Bash", {"command": "find /plugins -type f"}), text("Done."))
    stream = await answered(owner, workspaceId=made.json()["workspace"]["slug"])
    assert "commands/deploy.md" in results(stream)[0]
    assert "skills/greet" not in results(stream)[0]
    metadata = stream.of_type("prompt_metadata")[0]
    assert not any("demo:" in name for name in (*metadata["availableSkills"], *metadata["availableAgents"]))


async def test_a_plugin_that_changed_on_the_disk_is_left_out(
    house: ModuleServer, owner: httpx2.AsyncClient, installed: dict[str, Any], api: MessagesAPI
) -> None:
    await approve(owner, installed)
    (word,) = house.home.root.glob("plugins/demo-plugin/*/files/lib/word.txt")
    word.chmod(0o644)
    word.write_text("wreck")
    api.script(tool_use("Bash", {"command": "ls /plugins"}), text("Done."))
    stream = await answered(owner)
    assert "demo-plugin is left out" in warnings(stream)
    assert "demo" not in results(stream)[0]
    items = (await owner.get("/api/inbox")).json()["items"]
    assert [item["title"] for item in items if item["kind"] == "plugin"] == [
        "The plugin demo-plugin has changed on the disk"
    ]
