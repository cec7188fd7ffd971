"""A computer with a journal and a module that has agents, and a model that the test holds up."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.messages_api import MessagesAPI

KEY = "sk-ant-api03-real"
DIARY = """
@route("POST", "/entries")
async def add(self, text: str):
    await self.core.files.write("Diary/today.md", text)
    return {"text": await self.core.files.read("Diary/today.md")}

@route("POST", "/think")
async def think(self):
    return {"said": await self.core.run_agent("thinker", "Think.")}

@route("POST", "/talk")
async def talk(self):
    return await self.core.conversations.send("new", "Hello!")
"""


class House(ModuleComputer):
    """See the module; `headers` prove the owner."""

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {CliToken(self.home.root).obtain()}"}

    def furnish(self) -> None:
        """Install the module `diary`."""
        self.install(
            "diary",
            DIARY,
            permissions={"write": ["Diary/**"], "conversations": "write"},
            agents={"thinker": {"capabilities": ["read"]}},
        )

    def journal_works(self) -> bool:
        """Return whether an entry can be written and read."""
        answer = self.post("/api/diary/entries", json={"text": "Rain."})
        return bool(answer.json() == {"text": "Rain."})

    def agent_units(self) -> list[str]:
        """The units that are there for agents alone."""
        names = [str(unit["name"]) for unit in self.ask_supervisor("status")["units"]]
        return [name for name in names if name != "core" and not name.startswith("module@")]

    def refused(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """A request that has to be refused since all agents are stopped."""
        answer = self.ask(method, path, headers=self.headers, **options)
        assert (answer.status_code, answer.json().get("key")) == (503, "panic"), answer.text
        assert "All agents are stopped since" in answer.json()["detail"]
        return answer


@pytest.fixture
def model() -> Iterator[MessagesAPI]:
    """A scripted model service."""
    with MessagesAPI() as service:
        yield service


@pytest.fixture
def house(model: MessagesAPI) -> Iterator[House]:
    """One computer for one test."""
    # However little memory other tests leave, a conversation stays warm.
    settings = {"agents": {"spare": False, "memory_floor_megabytes": 0}}
    with House(settings=settings, environment=model.credentials) as running:
        running.furnish()
        yield running
