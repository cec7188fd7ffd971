"""Servers elsewhere on a whole computer: chats whose agents use them, the app's calls, and the command line."""

import json
import os
import subprocess
from collections.abc import Iterator

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.capabilities.mcp_servers.remote_servers import RemoteServer, browse, remote_server
from tests.chat.runs.answers import answered, ended
from tests.conftest import needs_bubblewrap
from tests.contract.mcps import ServerList, ToolList, Trial
from tests.modules.runtime.module_computer import PROGRAM, ModuleServer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server

pytestmark = [needs_bubblewrap, pytest.mark.long]

ACT = "mcp__notes__act"
SECRET = "s3cr3t-of-the-owner"


@pytest.fixture
def house(make_server: Make[Server]) -> ModuleServer:
    """A server whose chats may use the servers notes and signed."""
    return make_server(ModuleServer, default_capabilities={"mcps": ["parachute", "notes", "signed"]})


@pytest.fixture(scope="module")
def closed_server() -> Iterator[RemoteServer]:
    """A server that asks for a header."""
    yield from remote_server(header=["Authorization", f"Bearer {SECRET}"])


@pytest.fixture(scope="module")
def signing_server() -> Iterator[RemoteServer]:
    """A server at which one signs in."""
    yield from remote_server(oauth=True)


def owner(house: ModuleServer) -> dict[str, str]:
    """The command line's own token."""
    return {"Authorization": f"Bearer {CliToken(house.home.root).obtain()}"}


def mcp(house: ModuleServer, *arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """Run `parachute mcp`, with something on its standard input."""
    environment = {"HOME": str(house.folder), "PATH": os.environ["PATH"], "PARACHUTE_HOME": str(house.home.root)}
    return subprocess.run([PROGRAM, "mcp", *arguments], env=environment, input=said, text=True, capture_output=True)


async def test_a_chat_calls_a_tool_with_a_secret_that_no_sandbox_sees(
    house: ModuleServer, api: MessagesAPI, closed_server: RemoteServer
) -> None:
    assert mcp(house, "secret", "set", "NOTES", said=SECRET).returncode == 0
    header = "Authorization: Bearer ${secret:NOTES}"
    added = mcp(house, "add", "notes", "--url", closed_server.url, "--header", header, "--yes")
    assert (added.returncode, closed_server.url in added.stdout) == (0, True), added.stderr
    look = (
        "env; cat /proc/*/environ /proc/*/cmdline /proc/mounts 2>/dev/null | tr '\\0' '\\n'; "
        f"grep -rlsF {SECRET[:3]}'{SECRET[3:]}' / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr && echo found''-it; "
        "echo looked"
    )
    api.script(
        tool_use(ACT, {"text": "Buy milk"}),
        tool_use("mcp__notes__echo", {"headers": "authorization"}),
        tool_use("Bash", {"command": look}),
        text("Done."),
    )
    async with house.client() as client:
        stream = await answered(client)
        assert (ended(stream)["type"], stream.of_type("warning")) == ("done", [])
        noted, echoed, looked = (each["content"] for each in stream.of_type("tool_result"))
    assert noted == "Noted: Buy milk"
    assert "…" in echoed
    assert "looked" in looked
    assert "found-it" not in looked
    assert closed_server.url not in looked
    everything = json.dumps(stream.events) + "".join(json.dumps(each.body) for each in api.conversation)
    everything += "".join(path.read_text(errors="replace") for path in house.home.logs.iterdir())
    assert SECRET not in everything
    assert SECRET not in (house.vault / ".mcp.json").read_text()
    listed = json.loads(mcp(house, "list", "--json").stdout)["servers"][0]
    assert (listed["status"], listed["headers"]) == ("connected", {"Authorization": "Bearer ${secret:NOTES}"})
    assert mcp(house, "remove", "notes").returncode == 0


async def test_signing_in_from_a_browser(house: ModuleServer, api: MessagesAPI, signing_server: RemoteServer) -> None:
    async with house.client(headers=owner(house)) as client:
        added = await client.post("/api/mcps", json={"name": "signed", "url": signing_server.url})
        assert added.status_code == 200, added.text
        tried = (await client.post("/api/mcps/signed/test")).json()
        assert tried["status"] == "needs_login"
        Trial.model_validate(tried)
        tools = ToolList.model_validate((await client.get("/api/mcps/signed/tools")).json())
        assert "wants you to sign in" in (tools.error or "")
        page = (await client.get("/api/inbox")).json()
        (item,) = [each for each in page["items"] if each["title"] == "signed wants you to sign in"]
        assert item["may_answer"]
        begun = await client.post("/api/mcps/signed/login")
        assert begun.status_code == 200, begun.text
        assert begun.json()["comes_back_to"] == f"{house.url}/api/mcps/oauth/callback"
        arrived = browse(begun.json()["link"])
        assert arrived.startswith(house.url)
        # A browser brings no key.
        browser = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "user-agent": "Mozilla/5.0"}
        wrong = httpx2.get(arrived.replace("state=", "state=x"), headers=browser, timeout=60, trust_env=False)
        assert wrong.status_code == 404
        right = httpx2.get(arrived, headers=browser, timeout=60, trust_env=False)
        assert (right.status_code, "You are signed in" in right.text) == (200, True)
        assert httpx2.get(arrived, headers=browser, timeout=60, trust_env=False).status_code == 404
        tried = (await client.post("/api/mcps/signed/test")).json()
        assert (tried["status"], tried["tools_count"]) == ("ok", 2)
        servers = (await client.get("/api/mcps")).json()
        ServerList.model_validate(servers)
        (signed,) = [each for each in servers["servers"] if each["name"] == "signed"]
        assert (signed["displayType"], signed["displayCommand"]) == ("http", signing_server.url)
        assert signed["status"] == "connected"
        signing_server.control("expire")
        api.script(tool_use("mcp__signed__act", {"text": "x"}), text("Done."))
        (result,) = (await answered(client)).of_type("tool_result")
        assert (result["isError"], result["content"]) == (False, "Noted: x")
        assert (await client.delete("/api/mcps/signed/login")).json()["was_signed_in"]
    begun = json.loads(mcp(house, "login", "signed", "--paste", "--json").stdout)
    said = mcp(house, "login", "signed", "--answer", browse(begun["link"]))
    assert (said.returncode, "You are signed in to signed." in said.stdout) == (0, True), said.stderr
    assert mcp(house, "test", "signed").returncode == 0
    assert mcp(house, "logout", "signed").returncode == 0
    assert mcp(house, "login", "signed", "--answer", "https://example.org/").returncode == 1
    secrets = signing_server.control()["tokens"]
    everything = "".join(path.read_text(errors="replace") for path in house.home.logs.iterdir())
    assert not any(secret in everything for secret in secrets)
    assert mcp(house, "remove", "signed").returncode == 0


async def test_only_the_owner_gets_a_link(house: ModuleServer, signing_server: RemoteServer) -> None:
    made = json.loads(house.command("keys", "create", "phone", "--scope", "*:read", "--json").stdout)
    assert mcp(house, "add", "signed", "--url", signing_server.url, "--yes").returncode == 0
    assert mcp(house, "test", "signed").returncode == 1

    async def item(client: httpx2.AsyncClient) -> dict[str, object]:
        found = (await client.get("/api/inbox")).json()["items"]
        return dict(next(each for each in found if each["title"] == "signed wants you to sign in"))

    async with (
        house.client(headers=owner(house)) as own,
        house.client(headers={"Authorization": f"Bearer {made['key']}"}) as phone,
    ):
        while not (await item(own))["link"]:
            pass
        assert (await item(phone))["link"] is None
        assert (await phone.post("/api/mcps/signed/login")).status_code == 403
    assert mcp(house, "remove", "signed").returncode == 0
