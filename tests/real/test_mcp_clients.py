"""Programs of others that sign in at `/mcp` by OAuth, see what the owner allowed, and are ended. Claude Code's and the library's are tested elsewhere."""

import contextlib
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.real import installed
from tests.support.computer import free_port
from tests.support.mcp_client import OwnersBrowser
from tests.support.server import Server

pytestmark = pytest.mark.long

LINK = re.compile(r"http://127\.0\.0\.1:\d+(/oauth/authorize[!-~]+)")
SECONDS = 120

_MESSAGES = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "Desk", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
)


def npm_sdk(url: str, folder: Path) -> tuple[list[str], str]:
    """The client of npm's SDK: its command, and what it is given."""
    program = Path(__file__).with_name("sdk_client.mjs").read_text()
    return [installed.node(), "--input-type=module", "-", f"{url}/mcp"], program


def inspector(url: str, folder: Path) -> tuple[list[str], str]:
    """The inspector's command line."""
    program = str(installed.npm() / "@modelcontextprotocol/inspector/clients/launcher/build/index.js")
    back = f"http://127.0.0.1:{free_port()}/oauth/callback"
    method = ["--method", "tools/list", "--callback-url", back]
    return [installed.node(), program, "--cli", f"{url}/mcp", *method], ""


def mcp_remote(url: str, folder: Path) -> tuple[list[str], str]:
    """The program that the file for Claude Desktop starts; it passes messages on."""
    program = str(installed.npm() / "mcp-remote/dist/proxy.js")
    said = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in _MESSAGES)
    return [installed.node(), program, f"{url}/mcp", str(free_port())], said


def tools_in(said: str) -> set[str]:
    """The names of the tools in what a program has printed."""
    documents = []
    for text in (said, *said.splitlines()):
        with contextlib.suppress(ValueError):
            documents.append(json.loads(text))
    found: list[dict[str, Any]] = [each.get("result", each) for each in documents if isinstance(each, dict)]
    return {tool["name"] for each in found for tool in each.get("tools", ())}


@pytest.mark.parametrize("program", [npm_sdk, inspector, mcp_remote])
def test_it_signs_in_sees_what_was_allowed_and_is_ended(
    offering: Server, owner: OwnersBrowser, tmp_path: Path, program: Callable[[str, Path], tuple[list[str], str]]
) -> None:
    command, given = program(offering.url, tmp_path)
    before = {each["id"] for each in owner.clients()}
    # No browser is there, and the inspector asks nobody to sign in where no terminal is either.
    environment = {"HOME": str(tmp_path), "PATH": str(tmp_path), "MCP_AUTO_OPEN_ENABLED": "true"}
    with subprocess.Popen(
        command,
        env=environment,
        cwd=installed.npm().parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stdin is not None
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdin.write(given)
            running.stdin.flush()
            if program is not mcp_remote:
                running.stdin.close()
            said = ""
            while (found := LINK.search(said)) is None:
                line = running.stderr.readline()
                assert line, said
                said += line
            back = owner.agree(owner.open(found[1]), tools=["daily-search"])
            assert httpx2.get(back, timeout=SECONDS, trust_env=False).status_code == 200
            answer = ""
            while not tools_in(answer):
                line = running.stdout.readline()
                assert line, (answer, running.stderr.read())
                answer += line
        finally:
            running.kill()
    assert tools_in(answer) == {"daily-search"}
    (client,) = [each for each in owner.clients() if each["id"] not in before]
    assert owner.browser.ask("DELETE", f"/api/mcp-clients/{client['id']}").status_code == 200
