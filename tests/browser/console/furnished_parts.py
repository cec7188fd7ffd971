"""Modules, a journal, people, a workspace, capabilities, keys, costs, and one of each thing that waits for the owner."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.capabilities.plugins.building import repository
from tests.capabilities.plugins.git_server import git_server
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.sse import chat

MODULES = ("brain", "daily", "chat")
COLOURS = {
    "question": "Which colour should the hull have?",
    "header": "Hull",
    "multiSelect": False,
    "options": [
        {"label": "Navy blue", "description": "As it is now."},
        {"label": "White", "description": "Cooler in summer."},
    ],
}
FETCH = {"command": "curl --max-time 20 https://weather.example.org/helgoland", "description": "Read the forecast"}
WRITE = {
    "command": "printf '# Plan\\n\\n1. Sand the hull.\\n2. Paint it.\\n' > plan.md",
    "description": "Write the plan",
}


class Household:
    """The owner's programs on a computer that runs: requests of its API."""

    def __init__(self, computer: Computer, model: MessagesAPI) -> None:
        self.computer = computer
        self.model = model
        self.session = ""

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request that has to succeed."""
        answer = httpx2.request(method, f"{self.computer.url}{path}", json=body, timeout=120, **PLAIN)
        assert answer.is_success, (method, path, answer.text)
        return answer.json() if answer.content else None

    def say(self, message: str, *replies: Any, **fields: Any) -> str:
        """One turn to its end, with these answers of the model; the conversation's id."""
        if replies:
            self.model.script(*replies)

        async def turn() -> str:
            async with self.computer.client() as client, chat(client, message, **fields) as stream:
                await stream.collect()
                return str(stream.of_type("session")[0]["sessionId"])

        return _apart(turn())

    def waiting(self) -> list[dict[str, Any]]:
        """The items of the inbox."""
        found: list[dict[str, Any]] = self.ask("GET", "/api/inbox")["items"]
        return found


def _apart(work: Coroutine[Any, Any, str]) -> str:
    # The event loop of this thread is that of the browser's driver.
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


def furnish_modules(house: Household, names: tuple[str, ...] = MODULES) -> None:
    """Install official modules as they came."""
    official = {each["name"]: each for each in house.ask("GET", "/api/modules/official")["modules"]}
    for name in names:
        house.ask("POST", "/api/modules/install", {"source": official[name]["source"], "hash": official[name]["hash"]})


@contextmanager
def furnished_capabilities(house: Household, folder: Path) -> Iterator[None]:
    """An agent, a skill, an MCP server, and a plugin of a git repository whose programs wait."""
    agent = {
        "name": "boatwright",
        "description": "Knows wood, ropes and paint.",
        "prompt": "You help with an old boat. Be brief.",
        "tools": ["Read", "Grep"],
    }
    house.ask("POST", "/api/agents", agent)
    skill = {
        "name": "checklist",
        "description": "Makes a checklist for a journey.",
        "content": "Ask for the days and the weather, then write a list.",
    }
    house.ask("POST", "/api/skills", skill)
    house.ask("POST", "/api/mcps", {"name": "tides", "command": "python3", "args": ["tides.py", "--harbour", "Husum"]})
    with git_server(folder) as server:
        url = server.publish(repository(folder / "sailing"))
        house.ask("POST", "/api/plugins/install", {"url": url})
        yield


def furnish_people(house: Household) -> None:
    """Entries of the journal, and two people in Brain."""
    for day, words in (
        ("2026-11-20", "Met Kevin at the harbour. The mast is ready."),
        (None, "Rain all day. Read about knots."),
    ):
        house.ask("POST", "/api/daily/entries", {"content": words, **({"date": day} if day else {})})
    for name, content in (("Kevin", "Repairs masts in Husum."), ("Ada", "Owns the Albatross.")):
        house.ask("POST", "/api/brain/entities", {"entity_type": "person", "data": {"name": name}, "content": content})


def furnish_workspace(house: Household) -> None:
    """A workspace whose changes wait for the owner."""
    (house.computer.vault / "Projects" / "boat").mkdir(parents=True)
    body = {
        "name": "Boat",
        "description": "Repairs of the Albatross",
        "working_directory": "Projects/boat",
        "apply": "review",
        "network": {"mode": "ask", "hosts": []},
    }
    house.ask("POST", "/api/workspaces", body)


def furnish_keys(house: Household) -> None:
    """A key with all rights and one of the family, and a limit."""
    house.ask("POST", "/api/auth/keys", {"label": "Ada's phone"})
    house.ask("POST", "/api/auth/keys", {"label": "Kitchen tablet", "scopes": ["daily:read", "brain:read"]})
    house.ask("PUT", "/api/usage/limits/chats", {"per": "day", "dollars": 5})


def write_plan(house: Household) -> None:
    """A change that the workspace holds for the owner."""
    house.say("Write a plan.", tool_use("Bash", WRITE), text("The plan waits for you."), workspaceId="boat")


def propose_note(house: Household) -> None:
    """A suggestion about Kevin, who is written down if he is not."""
    found = house.ask("GET", "/api/brain/search?query=Kevin")["results"]
    body = {"entity_type": "person", "data": {"name": "Kevin"}, "content": "Repairs masts in Husum."}
    kevin = found[0] if found else house.ask("POST", "/api/brain/entities", body)
    proposal = {
        "action": "update",
        "target_module": "brain",
        "target_id": kevin["para_id"],
        "payload": {"append": "- Sails to Helgoland in May."},
        "reasoning": "You said so.",
    }
    noted = text("I have proposed to note it.")
    house.say("Kevin sails to Helgoland in May.", tool_use("mcp__parachute__suggest", proposal), noted)


def furnish_waiting(house: Household) -> None:
    """A host, a held change and a suggestion; what waits stays until it is answered."""
    house.say(
        "What will the weather be?", tool_use("Bash", FETCH), text("I have asked whether I may read the forecast.")
    )
    write_plan(house)
    propose_note(house)


def furnish_question(house: Household, message: str = "Paint the hull.") -> str:
    """A conversation whose agent waits for an answer; its id."""
    house.model.script(tool_use("AskUserQuestion", {"questions": [COLOURS]}), text("Good choice."))

    async def turn() -> str:
        async with house.computer.client() as client, chat(client, message) as stream:
            await stream.until("user_question")
            return str(stream.of_type("session")[0]["sessionId"])

    return _apart(turn())


@contextmanager
def furnished_parts(computer: Computer, model: MessagesAPI, folder: Path) -> Iterator[Household]:
    """All of it; the repository of the plugin is there while this lasts."""
    house = Household(computer, model)
    with furnished_capabilities(house, folder):
        furnish_modules(house)
        furnish_people(house)
        furnish_workspace(house)
        furnish_keys(house)
        furnish_waiting(house)
        furnish_question(house)
        yield house
