"""MCP servers of a whole computer: the app's calls, the command line, and chats whose agents use them."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from parachute.security.keys.cli_token import CliToken
from tests.capabilities.mcp_servers.programs import plain
from tests.chat.runs.answers import answered, ended
from tests.conftest import needs_bubblewrap
from tests.contract.mcps import ServerList, ToolList, Trial
from tests.modules.runtime.module_computer import PROGRAM, ModuleServer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server
from tests.support.waiting import until

pytestmark = [needs_bubblewrap, pytest.mark.long]

ACT = "mcp__notes__act"
SAYS = """
def begin():
    open("/data/started", "a").write("x")
def act(asked):
    if asked["params"]["arguments"].get("crash"):
        os._exit(3)
    text(asked, "Noted: " + asked["params"]["arguments"].get("text", "nothing"))
TOOLS = [{"name": "act", "description": "Write a note.",
          "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]
"""


@pytest.fixture
def house(make_server: Make[Server]) -> ModuleServer:
    """A server whose chats may use the servers notes, edited and planted."""
    server = make_server(ModuleServer, default_capabilities={"mcps": ["parachute", "notes", "edited", "planted"]})
    (server.folder / "program.py").write_text(plain(SAYS))
    return server


@pytest.fixture
def notes(house: ModuleServer) -> ModuleServer:
    """The same with the MCP server notes, approved on the command line."""
    added = house.command("mcp", "add", "notes", sys.executable, str(house.folder / "program.py"), *READ, "--yes")
    assert added.returncode == 0, added.stderr
    return house


READ = ("--read", str(Path(sys.prefix).resolve()))


def data(house: ModuleServer, name: str) -> Path:
    """The folder that a server writes to."""
    return house.home.root / "mcp" / name / "data"


def put(house: ModuleServer, name: str, *arguments: str) -> None:
    """Write a server into `.mcp.json` by hand."""
    path = house.vault / ".mcp.json"
    document = json.loads(path.read_text()) if path.exists() else {"mcpServers": {}}
    document["mcpServers"][name] = {"command": sys.executable, "args": [str(house.folder / "program.py"), *arguments]}
    path.write_text(json.dumps(document))


def offered(api: MessagesAPI) -> list[str]:
    """The tools of servers that the model was told of last."""
    names = (tool["name"] for tool in api.conversation[-1].body.get("tools", []))
    return sorted(name for name in names if name.startswith("mcp__"))


async def test_a_chat_calls_a_tool(notes: ModuleServer, api: MessagesAPI) -> None:
    api.script(tool_use(ACT, {"text": "Buy milk"}), text("Done."))
    async with notes.client() as client:
        stream = await answered(client)
        assert (ended(stream)["type"], stream.of_type("warning")) == ("done", [])
        (result,) = stream.of_type("tool_result")
        assert (result["isError"], result["content"]) == (False, "Noted: Buy milk")
        assert offered(api) == [ACT]
        session = stream.of_type("session")[0]["sessionId"]
        api.script(tool_use(ACT, {"crash": True, "text": "x"}), text("It broke."))
        stream = await answered(client, "Again", session)
        (result,) = stream.of_type("tool_result")
        assert (result["isError"], "The MCP server notes has ended" in result["content"]) == (True, True)
        assert ended(stream)["type"] == "done"
        api.script(tool_use(ACT, {"text": "More"}), text("Done."))
        (result,) = (await answered(client, "Again", session)).of_type("tool_result")
        assert result["content"] == "Noted: More"
    # It is written a moment later.
    notes.wait_until(lambda: ACT in _audit(notes), "the call is in the audit")


def _audit(house: ModuleServer) -> str:
    return "".join(path.read_text() for path in (house.vault / ".parachute" / "audit").glob("*.jsonl"))


ASKS = """
calls = []

def act(asked):
    calls.append(asked)
    token = asked["params"]["_meta"]["progressToken"]
    report = {"progressToken": token, "progress": 1, "total": 2, "message": "Half\\u202e way"}
    send({"method": "notifications/progress", "params": report})
    schema = {"type": "object", "properties": {"boat": {"type": "string", "title": "Boat"}}, "required": ["boat"]}
    send({"id": "own", "method": "elicitation/create", "params": {"message": "Which?", "requestedSchema": schema}})

def heard(message):
    if message.get("id") == "own":
        text(calls[-1], json.dumps(message["result"]))
"""


async def test_a_call_shows_how_far_it_is_and_asks_the_owner(notes: ModuleServer, api: MessagesAPI) -> None:
    (notes.folder / "program.py").write_text(plain(ASKS))
    assert notes.command("mcp", "approve", "notes", "--yes").returncode == 0
    api.script(tool_use(ACT, {}), text("Done."))

    async def answer() -> None:
        def asked() -> list[dict[str, Any]]:
            items = json.loads(notes.command("inbox", "--json").stdout)["items"]
            return [each for each in items if each["kind"] == "mcp_question"]

        async def found() -> list[dict[str, Any]]:
            return await asyncio.to_thread(asked)

        (item,) = await until(found, "the card is there")
        assert item["sentence"].startswith("The MCP server notes asks you something, during act in “")
        assert (item["answers"], bool(item["session_id"])) == (["answer", "decline"], True)
        body = {"id": item["id"], "hash": item["hash"], "answer": "answer"}
        assert (await client.post("/api/inbox/answer", json=body)).json()["key"] == "answer_does_not_fit"
        body["values"] = {"boat": "Anna"}
        assert (await client.post("/api/inbox/answer", json=body)).json()["success"] is True

    async with notes.client() as client:
        stream, _ = await asyncio.gather(answered(client), answer())
    (progress,) = stream.of_type("tool_progress")
    (result,) = stream.of_type("tool_result")
    assert (progress["toolUseId"], progress["message"]) == (result["toolUseId"], "Half way (1/2)")
    assert json.loads(result["content"]) == {"action": "accept", "content": {"boat": "Anna"}}


async def test_an_agent_that_writes_the_file_gains_nothing(house: ModuleServer, api: MessagesAPI) -> None:
    command = (
        f"echo '{json.dumps({'mcpServers': {'planted': {'command': 'sleep', 'args': ['3']}}})}' > /vault/.mcp.json"
    )
    (house.vault / "Projects").mkdir(exist_ok=True)
    async with house.client() as client:
        api.script(tool_use("Bash", {"command": command}), text("Done."))
        stream = await answered(client)
        assert stream.of_type("tool_result")[0]["isError"]
        assert not (house.vault / ".mcp.json").exists() or "planted" not in (house.vault / ".mcp.json").read_text()
        # And had it got there, as from a synchronised vault, or from an agent with the owner's rights:
        put(house, "planted")
        api.script(text("Hello."))
        stream = await answered(client)
        assert offered(api) == []
        assert any("planted is left out. It waits for your approval" in str(each) for each in stream.events)
        assert not data(house, "planted").exists()
        assert (await client.get("/api/mcps/planted/tools")).json()["tools"] == []
        test = (await client.post("/api/mcps/planted/test", headers=owner(house))).json()
        assert (test["status"], test["key"]) == ("error", "not_approved")
        assert not data(house, "planted").exists()


async def test_an_edited_file_waits_and_the_chat_goes_on(house: ModuleServer, api: MessagesAPI) -> None:
    put(house, "edited")
    assert house.command("mcp", "approve", "edited", *READ, "--yes").returncode == 0
    async with house.client() as client:
        api.default(text("Hello."))
        session = (await answered(client)).of_type("session")[0]["sessionId"]
        assert offered(api) == ["mcp__edited__act"]
        put(house, "edited", "--more")
        stream = await answered(client, "Again", session)
        assert offered(api) == []
        assert any("has changed and waits for your approval" in str(each) for each in stream.events)
        shown = house.command("mcp", "approve", "edited")
        assert (shown.returncode, "--more" in shown.stdout, "was not approved" in shown.stderr) == (3, True, True)
        assert house.command("mcp", "approve", "edited", "--yes").returncode == 0  # with the folder it had before
        stream = await answered(client, "Again", session)
        assert (offered(api), stream.of_type("warning")) == (["mcp__edited__act"], [])
        (house.vault / ".mcp.json").write_text("{")
        assert ended(await answered(client, "Again", session))["type"] == "done"
        assert offered(api) == []


async def test_a_workspace_and_an_agents_file_say_which(notes: ModuleServer, api: MessagesAPI) -> None:
    api.default(text("Hello."))
    (notes.vault / "narrow.md").write_text("---\ntools: [Read]\n---\nYou are narrow.\n")
    (notes.vault / "wide.md").write_text("---\ntools: [Read, mcp__notes]\n---\nYou are wide.\n")
    async with notes.client() as client:
        for choice, expected in (("all", [ACT]), ("none", []), (["notes"], [ACT]), ([ACT], [ACT]), (["other"], [])):
            body = {"name": f"W {choice}", "capabilities": {"mcps": choice}}
            slug = (await client.post("/api/workspaces", json=body)).json()["workspace"]["slug"]
            await answered(client, workspaceId=slug)
            assert offered(api) == expected, choice
        for agent, expected in (("narrow.md", []), ("wide.md", [ACT])):
            await answered(client, agentPath=agent)
            assert offered(api) == expected, agent


def owner(house: ModuleServer) -> dict[str, str]:
    """The command line's own token."""
    return {"Authorization": f"Bearer {CliToken(house.home.root).obtain()}"}


async def test_the_apps_calls(house: ModuleServer) -> None:
    shown = {"command": sys.executable, "args": [str(house.folder / "program.py")]}
    async with house.client(headers=owner(house)) as client:
        (own,) = ServerList.model_validate((await client.get("/api/mcps")).json()).servers
        assert (own.name, own.builtin) == ("parachute", True)
        for body in ({"name": "flat", **shown}, {"name": "nested", "config": shown}):
            added = await client.post("/api/mcps", json=body)
            assert added.status_code == 200, added.text
            assert (await client.post("/api/mcps", json=body)).status_code == 409
        assert (await client.post("/api/mcps", json={"name": "parachute", **shown})).status_code == 409
        before = (house.vault / ".mcp.json").read_text()
        for wrong in (
            {},
            {"name": 7},
            {"name": "a b", **shown},
            {"name": "web", "url": "http://example.org/mcp"},
            {"name": "web", "url": "https://example.org/mcp", "type": "websocket"},
            {"name": "web", "config": {"url": "https://example.org/mcp", "headers": {"A": "${HOME}"}}},
            {"name": "x", "command": "y", "what": 1},
            {"name": "x", "config": {"command": "y"}, "args": []},
            {"name": "x", "config": "y"},
        ):
            refused = await client.post("/api/mcps", json=wrong)
            assert (refused.status_code, isinstance(refused.json()["detail"], str)) == (422, True), wrong
        assert (house.vault / ".mcp.json").read_text() == before
        said = (await client.get("/api/mcps")).json()
        ServerList.model_validate(said)
        servers = {each["name"]: each for each in said["servers"]}
        assert servers["flat"]["displayCommand"] == f"{sys.executable} {house.folder / 'program.py'}"
        assert (servers["flat"]["displayType"], servers["flat"]["builtin"]) == ("stdio", False)
        assert (servers["flat"]["validationErrors"], servers["flat"]["state"]) == (None, "approved")
        tried = (await client.post("/api/mcps/parachute/test")).json()
        assert (tried["status"], tried["tools_count"]) == ("ok", 0)
        tried = (await client.post("/api/mcps/flat/test")).json()
        assert (tried["status"], tried["tools_count"], tried["tools"]) == ("ok", 1, ["act"])
        Trial.model_validate(tried)
        (tool,) = ToolList.model_validate((await client.get("/api/mcps/flat/tools")).json()).tools or []
        assert (tool.name, tool.description) == ("act", "Write a note.")
        (house.folder / "broken.py").write_text("raise SystemExit(4)")
        broken = {"name": "broken", "command": sys.executable, "args": [str(house.folder / "broken.py")]}
        assert (await client.post("/api/mcps", json=broken)).status_code == 200
        tried = (await client.post("/api/mcps/broken/test")).json()
        assert (tried["status"], "The MCP server broken" in tried["error"]) == ("error", True)
        said = (await client.get("/api/mcps/broken/tools")).json()
        assert (said["tools"], "The MCP server broken" in said["error"]) == ([], True)
        for name in ("flat", "nested", "broken"):
            assert (await client.delete(f"/api/mcps/{name}")).status_code == 200
        assert (await client.delete("/api/mcps/flat")).status_code == 404
        assert (await client.delete("/api/mcps/parachute")).status_code == 403
        assert (await client.post("/api/mcps/flat/test")).status_code == 404
        assert (await client.get("/api/mcps/flat/tools")).status_code == 404


async def test_changing_servers_needs_admin_rights(house: ModuleServer) -> None:
    made = json.loads(house.command("keys", "create", "phone", "--scope", "chat:write", "--json").stdout)
    async with house.client(headers={"Authorization": f"Bearer {made['key']}"}) as client:
        body = {"name": "x", "command": "sleep"}
        assert (await client.post("/api/mcps", json=body)).status_code == 403
        assert (await client.delete("/api/mcps/x")).status_code == 403


def command(house: ModuleServer, *arguments: str) -> Any:
    """Return the command line's answer as JSON."""
    ran = house.command("mcp", *arguments, "--json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_command_line(house: ModuleServer) -> None:
    program = str(house.folder / "program.py")
    added = house.command(
        "mcp",
        "add",
        "shell",
        "--env",
        "KEY=${secret:SHELL}",
        "--host",
        "example.org",
        *READ,
        "--",
        sys.executable,
        program,
    )
    assert added.returncode == 3
    assert all(word in added.stdout for word in ("example.org", program, "sha256", "KEY=${secret:SHELL}"))
    assert command(house, "show", "shell")["state"] == "waiting"
    assert house.command("mcp", "approve", "shell", "--host", "localhost", "--yes").returncode == 1
    approved = command(house, "approve", "shell", "--host", "example.org", *READ, "--yes")
    assert (approved["state"], approved["hosts"]) == ("invalid", [])
    assert "secret SHELL is not set" in approved["problems"][0]
    assert not data(house, "shell").joinpath("started").exists()
    assert told_secret(house, "s3cr3t", "SHELL") == 0
    assert command(house, "secret", "list") == ["SHELL"]
    shown = command(house, "show", "shell")
    assert (shown["state"], shown["hosts"], shown["env"]) == ("approved", ["example.org"], {"KEY": "${secret:SHELL}"})
    assert list(shown["files"]) == [program]
    assert command(house, "tools", "shell")["tools"] == [{"name": "act", "description": "Write a note."}]
    assert command(house, "test", "shell")["status"] == "ok"
    (listed,) = [each for each in command(house, "list")["servers"] if each["name"] == "shell"]
    assert listed["state"] == "approved"
    everything = "".join(path.read_text(errors="replace") for path in house.home.logs.iterdir())
    assert "s3cr3t" not in everything
    assert "s3cr3t" not in (house.vault / ".mcp.json").read_text()
    offline = command(house, "approve", "shell", "--host", "none", "--yes")
    assert (offline["hosts"], bool(offline["folders"])) == ([], True)
    assert command(house, "remove", "shell", "--purge") == {"removed": "shell"}
    assert not data(house, "shell").exists()
    assert house.command("mcp", "secret", "remove", "SHELL").returncode == 0
    assert house.command("mcp", "show", "shell").returncode == 1
    wrong = house.command("mcp", "add", "bad", "sleep", "--host", "localhost", "--yes")
    assert (wrong.returncode, house.command("mcp", "show", "bad").returncode) == (1, 1)


def told_secret(house: ModuleServer, said: str, name: str) -> int:
    """The exit code of the command that keeps a secret, which is said on its standard input."""
    environment = {"HOME": str(house.folder), "PATH": os.environ["PATH"], "PARACHUTE_HOME": str(house.home.root)}
    return subprocess.run(
        [PROGRAM, "mcp", "secret", "set", name], env=environment, input=said, text=True, capture_output=True
    ).returncode


OLD = """
def takes(name, **field):
    schema = {"type": "object", "properties": {"a": field}}
    return tool(name, inputSchema={"$schema": "http://json-schema.org/draft-04/schema#", **schema})
TOOLS = [
    takes("limit", type="number", minimum=0, exclusiveMinimum=True), takes("list", type="array", items=[{"type": "string"}]),
    takes("needed", type="string", required=True), takes("notes.read", type="string"), takes("foreign", pattern="^\\\\p{L}$"),
    takes("unknown", type="strng"), takes("pattern", type="string", pattern="(?<x>["), *(tool("t%d" % n) for n in range(145)),
]
"""


async def test_the_request_has_the_tools_that_a_test_of_the_server_names(
    make_server: Make[Server], api: MessagesAPI
) -> None:
    house = make_server(ModuleServer, real_agents=True, default_capabilities={"mcps": ["old"]})
    (house.folder / "program.py").write_text(plain(OLD))
    assert house.command("mcp", "add", "old", sys.executable, str(house.folder / "program.py"), "--yes").returncode == 0
    async with house.client(headers=owner(house)) as client:
        tried = (await client.post("/api/mcps/old/test")).json()
        assert {each["name"] for each in tried["left_out"]} == {"unknown", "pattern"}
        assert {"limit", "list", "needed", "notes_read", "foreign", "t144"} < set(tried["tools"])
        assert (await client.get("/api/mcps/old/tools")).json()["left_out"] == tried["left_out"]
        api.script(text("Hello."))
        stream = await answered(client)
        assert offered(api) == sorted(f"mcp__old__{name}" for name in tried["tools"])
        assert "unknown (" in str(stream.of_type("warning"))
    shown = house.command("mcp", "test", "old")
    assert (shown.returncode, "Left out: unknown: " in shown.stdout) == (0, True)
