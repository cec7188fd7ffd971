"""A computer with a journal, a project and a log with a secret in it, and a model that does what the test says."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from parachute.capabilities.mcp_servers.secrets import Secrets
from parachute.security.keys.cli_token import CliToken
from tests.modules.runtime.module_computer import WithModules
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server

KEY = "sk-ant-api03-real-and-long-enough"
MCP_SECRET = "what a server of the owner prints"
SETTING = "a secret setting of the journal"
DIARY = """
@route("POST", "/send")
async def send(self, message: str):
    return await self.core.conversations.send("new", message)

@route("POST", "/run")
async def run(self, agent: str):
    return {"said": await self.core.run_agent(agent, "/maintenance Look.")}

@route("POST", "/propose")
async def propose(self, body: dict):
    return {"id": await self.core.suggest(**body)}

@route("GET", "/chats")
async def chats(self):
    found = await self.core.conversations.search("")
    return {"titles": [each.title for each in found]}
"""


class Maintaining(WithModules):
    """See the module; `model` answers its agents."""

    def __init__(self, model: MessagesAPI, **options: Any) -> None:
        super().__init__(environment={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}, **options)
        self.model = model

    @property
    def headers(self) -> dict[str, str]:
        """The proof of the owner."""
        return {"authorization": f"Bearer {CliToken(self.home.root).obtain()}"}

    def furnish(self) -> None:
        """Install the module `diary`, and write what the agent may see, and what it may not."""
        self.install(
            "diary",
            DIARY,
            permissions={"write": ["Diary/**"], "conversations": "write"},
            agents={"thinker": {"capabilities": ["read"], "can_suggest": ["settings"]}},
            settings={"pin": {"type": "secret", "description": "A pin."}},
        )
        setting = {"value": SETTING}
        answer = self.ask("PUT", "/api/modules/diary/settings/pin", json=setting, headers=self.headers)
        assert answer.status_code == 200, answer.text
        for path, content in {
            "Diary/today.md": "Rain.\n",
            "Projects/garden/notes.md": "Peas.\n",
            ".parachute/own.txt": "the computer's own\n",
        }.items():
            (self.vault / path).parent.mkdir(parents=True, exist_ok=True)
            (self.vault / path).write_text(content)
        subprocess.run(["git", "init", "-q", self.vault / "Projects/garden"], check=True)
        Secrets(self.home.root).set("NOTES", MCP_SECRET)
        with (self.home.logs / "mcp@notes.log").open("a") as log:
            log.write(f"I am given {MCP_SECRET}, well.\n")
        with (self.home.logs / "core.log").open("a") as log:
            log.write(
                f"2026-11-22 05:00:00,000 ERROR test: planted {KEY} and {SETTING} and password=hunter2222 here.\n"
            )

    def carry_out(self, *commands: str, call: str = "/maintenance Look.") -> list[tuple[bool, str]]:
        """Have the agent run commands; (whether it succeeded, what it said) of each."""
        done = [tool_use("Bash", {"command": command, "description": "Look"}) for command in commands]
        self.model.script(*done, text("Done."))
        events = self.chat(call)
        assert events[-1]["type"] == "done", events[-1]
        found = []
        for block in self.model.conversation[-1].tool_results[-len(commands) :]:
            content = block["content"]
            said = content if isinstance(content, str) else "".join(part["text"] for part in content)
            found.append((not block.get("is_error"), said))
        return found

    def chat(self, message: str, session: str = "new", **fields: Any) -> list[dict[str, Any]]:
        """Send a message as the owner, and read all events of the answer."""
        body = {"message": message, "sessionId": session, "module": "chat", **fields}
        answer = self.post("/api/chat", json=body, headers=self.headers, timeout=90)
        assert answer.status_code == 200, answer.text
        return [json.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: ")]

    @contextlib.contextmanager
    def streaming(self, message: str) -> Iterator[str]:
        """Send a message, and read its events when the block is left, as far as they come; gives the conversation."""
        body = {"message": message, "sessionId": "new", "module": "chat"}
        options: dict[str, Any] = {"headers": self.headers, "timeout": 60, **PLAIN}
        with (
            httpx2.Client(**options) as client,
            client.stream("POST", f"{self.url}/api/chat", json=body) as answer,
        ):
            lines = answer.iter_lines()
            first = next(line for line in lines if line.startswith("data: "))
            yield str(json.loads(first[6:])["sessionId"])
            with contextlib.suppress(httpx2.TransportError):
                for _ in lines:
                    pass

    def sessions(self) -> list[dict[str, Any]]:
        """All conversations."""
        found: list[dict[str, Any]] = self.value("/api/chat?limit=500")["sessions"]
        return found

    def of_maintenance(self) -> set[str]:
        """The conversations with the maintenance agent."""
        return {each["id"] for each in self.sessions() if each["agentName"] == "maintenance"}


class MaintenanceServer(Maintaining, Server):
    """A server, for conversations."""


class MaintenanceComputer(Maintaining, Computer):
    """A computer, for crashes."""


@pytest.fixture(scope="module")
def _server(model: MessagesAPI) -> Iterator[MaintenanceServer]:
    with MaintenanceServer(model) as running:
        running.furnish()
        yield running


@pytest.fixture
def server(_server: MaintenanceServer, model: MessagesAPI) -> Iterator[MaintenanceServer]:
    """One server for the tests of a file."""
    with model.lent(text("Yes.")):
        yield _server
