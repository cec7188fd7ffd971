"""One server with a module Brain for all tests of permissions, and a conversation for each."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from parachute.supervisor.specifications.host import module_folder
from tests.chat.runs.answers import answered, session_of
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.sse import ChatStream

TOOLS = '''
@mcp_tool("brain-search")
async def search(self, query: str):
    """Find people

    Args:
        query: Words
    """
    return [query]

@mcp_tool("brain-link")
async def link(self, entity: str):
    """Note something

    Args:
        entity: Words
    """
    return entity
'''
OFFERED = [{"name": "brain-search", "description": "Find"}, {"name": "brain-link", "description": "Note"}]
FILES = {
    "Brain/people/kevin.md": "Kevin moves to Berlin.",
    "Daily/2026-01-01.md": "A private day.",
    "Projects/ship/AGENTS.md": "Words of the ship.",
    "Projects/ship/plan.md": "Sail.",
    "AGENTS.md": "Words of the vault.",
}


@pytest.fixture(scope="package")
def service() -> Iterator[MessagesAPI]:
    """The model of all tests here."""
    with MessagesAPI() as running:
        yield running


@pytest.fixture(scope="package")
def house(service: MessagesAPI) -> Iterator[ModuleServer]:
    """A server with a vault, a project and a module with two tools."""
    with ModuleServer(environment=service.credentials, settings={"sandbox": {"engine": "bubblewrap"}}) as running:
        running.install("brain", TOOLS, mcp_tools=OFFERED)
        described = module_folder("brain", running.home.root) / "description.json"
        running.wait_until(described.is_file, "core knows the tools of the module")
        for name, words in FILES.items():
            path = running.vault / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{words}\n")
        yield running


@pytest.fixture
def api(service: MessagesAPI) -> Iterator[MessagesAPI]:
    """The same model, for one test."""
    with service.lent():
        yield service


class Talk:
    """One conversation with the owner."""

    def __init__(self, house: ModuleServer, api: MessagesAPI, client: httpx2.AsyncClient) -> None:
        self.house = house
        self.api = api
        self.client = client
        self.session = "new"

    async def say(self, **fields: Any) -> ChatStream:
        """Send a message, which the model answers at once."""
        self.api.script(text("Yes."))
        stream = await answered(self.client, "Hello!", self.session, **fields)
        self.session = session_of(stream)
        return stream

    async def use(self, tool: str, **arguments: Any) -> str:
        """Return the answer to the agent's use of a tool, of its own or one that it only believes to have."""
        self.api.script(tool_use(tool, arguments), text("Done."))
        stream = await answered(self.client, "Do it.", self.session)
        self.session = session_of(stream)
        return "\n".join(str(result["content"]) for result in stream.of_type("tool_result"))

    async def permit(self, status: int = 200, **said: Any) -> dict[str, Any]:
        """Change what it may use, and give the answer."""
        changed = await self.client.patch(f"/api/chat/{self.session}/config", json=said)
        assert changed.status_code == status, changed.text
        answer: dict[str, Any] = changed.json()
        return answer

    async def stored(self) -> dict[str, Any]:
        """The session as the API gives it."""
        found: dict[str, Any] = (await self.client.get(f"/api/chat/{self.session}")).json()
        return found

    async def explained(self) -> dict[str, Any]:
        """Its sandbox, looked at."""
        found: dict[str, Any] = (await self.client.get(f"/api/sandbox/sessions/{self.session}")).json()
        return found

    @property
    def prompt(self) -> str:
        """The system prompt that the model had last."""
        return str(self.api.conversation[-1].body["system"])


@pytest.fixture
async def talk(house: ModuleServer, api: MessagesAPI) -> Any:
    """A conversation that begins with the first message."""
    async with house.client() as client:
        yield Talk(house, api, client)
