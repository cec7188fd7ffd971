"""Conversations in workspaces: a whole computer, all real but the model."""

import json
import os
import subprocess
import sys
from typing import Any

import httpx2
import pytest

from parachute.supervisor.specifications.host import module_folder
from tests.chat.runs.answers import answered, ended, session_of
from tests.conftest import needs_bubblewrap
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server

pytestmark = [needs_bubblewrap, pytest.mark.long]

TOOLS = '''
@mcp_tool("books_search")
async def search(self, query: str):
    """Find books

    Args:
        query: Words
    """
    return [query]

@mcp_tool("books_lend")
async def lend(self, title: str):
    """Lend a book

    Args:
        title: Words
    """
    return title
'''
OFFERED = [
    {"name": "books_search", "description": "Find books"},
    {"name": "books_lend", "description": "Lend a book"},
]


@pytest.fixture
def library(make_server: Make[Server]) -> ModuleServer:
    """A server with a module that has two tools, and a folder for a project."""
    server = make_server(ModuleServer)
    server.install("books", TOOLS, mcp_tools=OFFERED)
    described = module_folder("books", server.home.root) / "description.json"
    server.wait_until(described.is_file, "core knows the tools of the module")
    (server.vault / "Projects" / "ship").mkdir(parents=True)
    return server


def make(house: ModuleServer, name: str, **fields: Any) -> str:
    """The slug of a new workspace."""
    made = house.post("/api/workspaces", json={"name": name, **fields})
    assert made.status_code == 200, made.text
    return str(made.json()["workspace"]["slug"])


def change(house: ModuleServer, slug: str, **fields: Any) -> None:
    """Change a workspace."""
    changed = house.ask("PUT", f"/api/workspaces/{slug}", json=fields)
    assert changed.status_code == 200, changed.text


def tools_of(api: MessagesAPI) -> list[str]:
    """The tools of modules that the model was told of last."""
    names = (tool["name"] for tool in api.conversation[-1].body["tools"])
    return sorted(name.removeprefix("mcp__parachute__") for name in names if name.startswith("mcp__"))


async def run_line(client: httpx2.AsyncClient, api: MessagesAPI, line: str, session: str = "new", **fields: Any) -> str:
    """Return the output of a command line that the agent runs."""
    api.script(tool_use("Bash", {"command": line}), text("Done."))
    stream = await answered(client, "Do it.", session, **fields)
    (result,) = stream.of_type("tool_result")
    return str(result["content"])


async def test_all_that_a_workspace_says_reaches_the_agent(library: ModuleServer, api: MessagesAPI) -> None:
    slug = make(
        library,
        "Shipyard",
        working_directory="Projects/ship",
        model="claude-haiku-4-5",
        capabilities={"mcps": ["books_lend"]},
        memory_megabytes=900,
        cpus=1.5,
        processes=321,
    )
    async with library.client() as client:
        said = await run_line(client, api, "pwd; ulimit -u; echo sail > plan.txt", workspaceId=slug)
        assert said.splitlines() == ["/vault/Projects/ship", "321"]
        assert (library.vault / "Projects" / "ship" / "plan.txt").read_text() == "sail\n"
        assert api.conversation[-1].body["model"] == "claude-haiku-4-5"
        assert tools_of(api) == ["books_lend"]
        (stored,) = (await client.get(f"/api/chat?workspaceId={slug}")).json()["sessions"]
        assert (stored["workspaceId"], stored["workingDirectory"]) == (slug, "Projects/ship")
        assert (stored["trustLevel"], stored["model"]) == ("sandboxed", None)
        specification = json.loads((library.home.sandboxes / f"{stored['id']}.json").read_text())
        assert (specification["memory_megabytes"], specification["cpus"]) == (900, 1.5)

        # What the message says goes before what the workspace says.
        (library.vault / "Projects" / "boat").mkdir()
        own = {"workspaceId": slug, "workingDirectory": "Projects/boat", "model": "claude-opus-4-5"}
        assert (await run_line(client, api, "pwd", **own)).strip() == "/vault/Projects/boat"
        assert api.conversation[-1].body["model"] == "claude-opus-4-5"

        # And without one all is as it always was.
        assert (await run_line(client, api, "pwd; ulimit -u")).splitlines()[1:] == ["1024"]
        assert tools_of(api) == ["books_lend", "books_search"]


async def test_a_tool_that_is_left_out_cannot_be_called_either(library: ModuleServer, api: MessagesAPI) -> None:
    slug = make(library, "Silent", capabilities={"mcps": "none"})
    api.script(tool_use("mcp__parachute__books_search", {"query": "Momo"}), text("A pity."))
    async with library.client() as client:
        stream = await answered(client, workspaceId=slug)
    assert [result["isError"] for result in stream.of_type("tool_result")] == [True]
    assert tools_of(api) == []


async def test_a_change_holds_from_the_next_message_on(library: ModuleServer, api: MessagesAPI) -> None:
    slug = make(library, "Changing", capabilities={"mcps": "none"}, model="claude-haiku-4-5")
    api.default(text("Yes."))
    async with library.client() as client:
        session = session_of(await answered(client, "One", workspaceId=slug))
        assert tools_of(api) == []
        change(library, slug, capabilities={"mcps": ["books"]}, model="claude-opus-4-5", processes=400)
        assert (await run_line(client, api, "ulimit -u", session)).strip() == "400"
        assert tools_of(api) == ["books_lend", "books_search"]
        assert api.conversation[-1].body["model"] == "claude-opus-4-5"
        # All of the conversation is still there, though its sandbox is another one.
        assert "One" in str(api.conversation[-1].body["messages"])


@pytest.mark.long
async def test_the_floor_of_a_workspace(library: ModuleServer, api: MessagesAPI) -> None:
    shut, free = make(library, "Shut"), make(library, "Free", default_trust_level="direct")
    api.default(text("Yes."))
    async with library.client() as client:
        stream = await answered(client, workspaceId=shut, trustLevel="direct")
        assert [warning["title"] for warning in stream.of_type("warning")] == ["Sandboxed"]
        session = session_of(stream)
        for ask in ({"trustLevel": "direct"}, {"trustLevel": "full", "workspaceId": shut}):
            changed = await client.patch(f"/api/chat/{session}/config", json=ask)
            assert changed.json()["session"]["trustLevel"] == "sandboxed"
        await answered(client, "Again", session, trustLevel="direct")
        found = (await client.get(f"/api/chat/{session}")).json()
        assert (found["trustLevel"], found["effectiveExecutionMode"]) == ("sandboxed", "sandboxed")

        stream = await answered(client, workspaceId=free)
        direct = session_of(stream)
        found = (await client.get(f"/api/chat/{direct}")).json()
        assert (found["trustLevel"], found["effectiveExecutionMode"]) == ("direct", "direct")
        assert not stream.of_type("warning")
        stream = await answered(client, workspaceId=free, trustLevel="sandboxed")
        found = (await client.get(f"/api/chat/{session_of(stream)}")).json()
        assert found["effectiveExecutionMode"] == "sandboxed"

        change(library, free, default_trust_level="sandboxed")
        stream = await answered(client, "And now?", direct)
        assert ended(stream)["type"] == "done", ended(stream)
        assert "Hello!" in str(api.conversation[-1].body["messages"])
        found = (await client.get(f"/api/chat/{direct}")).json()
        assert (found["trustLevel"], found["effectiveExecutionMode"]) == ("sandboxed", "sandboxed")


async def test_a_message_puts_a_conversation_into_a_workspace(library: ModuleServer, api: MessagesAPI) -> None:
    slug = make(library, "Joined", capabilities={"mcps": "none"})
    api.default(text("Yes."))
    async with library.client() as client:
        session = session_of(await answered(client))
        assert tools_of(api) == ["books_lend", "books_search"]
        await answered(client, "In here.", session, workspaceId=slug)
        assert tools_of(api) == []
        refused = await client.post("/api/chat", json={"message": "x", "sessionId": session, "workspaceId": "nowhere"})
        assert (refused.status_code, "workspaceId" in refused.json()["detail"]) == (404, True)
        assert (await client.get(f"/api/chat/{session}")).json()["workspaceId"] == slug
        # The workspace goes, the conversation stays and may still say where it was.
        assert (await client.delete(f"/api/workspaces/{slug}")).status_code == 200
        assert ended(await answered(client, "Still there?", session, workspaceId=slug))["type"] == "done"
        assert tools_of(api) == ["books_lend", "books_search"]
        left = await client.patch(f"/api/chat/{session}/config", json={"workspaceId": ""})
        assert left.json()["session"]["workspaceId"] is None


async def test_agents_of_the_vault_that_a_workspace_uses(library: ModuleServer, api: MessagesAPI) -> None:
    folder = library.vault / "Chat"
    folder.mkdir(exist_ok=True)
    for name in ("pirate", "poet"):
        (folder / f"{name}.md").write_text(f"---\nname: {name.title()}\n---\nYou are a {name}.")
    slug = make(library, "Stage", capabilities={"agents": ["Pirate"]})
    api.default(text("Yes."))
    async with library.client() as client:
        session = session_of(await answered(client, workspaceId=slug, agentPath="Chat/pirate.md"))
        body = {"message": "x", "workspaceId": slug, "agentPath": "Chat/poet.md"}
        refused = await client.post("/api/chat", json=body)
        assert (refused.status_code, "agentPath" in refused.json()["detail"]) == (403, True)
        change(library, slug, capabilities={"agents": "none"})
        asked = len(api.conversation)
        stream = await answered(client, "More", session)
        assert ended(stream)["type"] == "typed_error"
        assert "agentPath" in ended(stream)["message"]
        assert len(api.conversation) == asked


@pytest.mark.long
async def test_a_key_without_admin_rights(library: ModuleServer, api: MessagesAPI) -> None:
    free, shut = make(library, "Owners", default_trust_level="direct"), make(library, "Guests")
    environment = {**os.environ, "HOME": str(library.folder), "PARACHUTE_HOME": str(library.home.root)}
    command = [sys.executable, "-m", "parachute.cli", "keys", "create", "guest", "--scope", "chat:read,write", "--json"]
    made = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=100)
    api.default(text("Yes."))
    async with library.client(headers={"X-API-Key": json.loads(made.stdout)["key"]}) as guest:
        for method, path, body in (
            ("POST", "", {"name": "Mine", "default_trust_level": "direct"}),
            ("PUT", f"/{shut}", {"default_trust_level": "trusted", "description": "x"}),
            ("PUT", f"/{free}", {"working_directory": "Projects/ship"}),
            ("PUT", f"/{shut}", {"description": "Ours."}),
        ):
            refused = await guest.request(method, f"/api/workspaces{path}", json=body)
            assert (refused.status_code, "admin" in refused.json()["detail"]) == (403, True)
        assert (await guest.get(f"/api/workspaces/{shut}")).json()["workspace"]["description"] == ""
        # In a direct workspace a guest's conversation is shut in all the same.
        session = session_of(await answered(guest, workspaceId=free))
        found = (await guest.get(f"/api/chat/{session}")).json()
        assert (found["trustLevel"], found["effectiveExecutionMode"]) == ("sandboxed", "sandboxed")


@pytest.mark.long
async def test_a_restart_and_a_hostile_file(library: ModuleServer, api: MessagesAPI) -> None:
    (library.vault / "Secrets").mkdir()
    slug = make(library, "Garden", model="claude-haiku-4-5", processes=222)
    api.default(text("Yes."))
    async with library.client() as client:
        session = session_of(await answered(client, "One", workspaceId=slug))
        before = (await client.get("/api/workspaces")).json()
    library.stop()
    hostile = {"name": "Garden", "default_trust_level": "direct", "working_directory": "Secrets", "processes": 4096}
    copy = library.vault / ".parachute" / "workspaces" / f"{slug}.json"
    assert json.loads(copy.read_text())["name"] == "Garden"
    copy.write_text(json.dumps(hostile))
    library.start()
    async with library.client() as client:
        assert (await client.get("/api/workspaces")).json() == before
        for each in (session, "new"):
            said = await run_line(client, api, "ulimit -u; pwd", each, workspaceId=slug)
            assert said.splitlines()[0] == "222"
            assert said.splitlines()[1].startswith("/scratch/")
        found = (await client.get(f"/api/chat/{session}")).json()
        assert (found["workspaceId"], found["effectiveExecutionMode"]) == (slug, "sandboxed")
