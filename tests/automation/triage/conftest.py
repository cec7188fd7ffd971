"""A server where modules propose changes of people, and a model that sorts them as the test says."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.automation.suggestions.conftest import AGENTS, JOURNAL, Suggesting, furnish
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, Reply, tool_use
from tests.support.server import Server

__all__ = ["orchestra", "server"]

ALLOWED = "create:people"
SETTINGS: dict[str, Any] = {"orchestrator": {"resolves": [ALLOWED]}}


class Orchestrating(Suggesting):
    """The installation; `journal` and `diary` propose."""

    def waiting(self) -> list[dict[str, Any]]:
        """Return the suggestions that wait for the user."""
        found: list[dict[str, Any]] = self.value("/api/suggestions?status=pending&limit=200")["suggestions"]
        return found

    def sort(self) -> dict[str, Any]:
        """A run, as the command line starts it."""
        done = self.command("suggestions", "orchestrate", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def doubled(self, **payload: Any) -> tuple[str, str]:
        """The same change proposed by both."""
        first = self.propose(payload=payload)
        proposal = {"action": "create", "target_module": "people", "payload": payload}
        answer = self.post("/api/diary/propose", json={"proposal": proposal})
        return first, str(answer.json()["id"])

    def runs(self) -> list[dict[str, Any]]:
        """The last runs, newest first."""
        found: list[dict[str, Any]] = self.value("/api/suggestions/orchestrator")["runs"]
        return found

    def furnish(self) -> None:
        """Install the modules."""
        furnish(self)
        self.install("diary", JOURNAL, agents=AGENTS)


class Orchestra(Orchestrating, Server):
    """A server, for what is sorted."""


class OrchestraComputer(Orchestrating, Computer):
    """A computer, for crashes."""


@pytest.fixture(scope="module")
def server(model: MessagesAPI) -> Iterator[Orchestra]:
    """One server for the tests of a file, where new people are the orchestrator's to decide about."""
    with Orchestra(settings=SETTINGS, environment=model.credentials) as running:
        running.furnish()
        yield running


@pytest.fixture
def orchestra(server: Orchestra, model: MessagesAPI) -> Iterator[Orchestra]:
    """The same, where nothing waits."""
    with model.lent():
        yield server
    for each in server.waiting():
        server.decide(each["id"], "reject")


def call(tool: str, **arguments: Any) -> Reply:
    """The model uses a tool of the orchestrator."""
    return tool_use(f"mcp__parachute__suggestions-{tool}", arguments)


def results(model: MessagesAPI) -> list[tuple[bool, str]]:
    """(whether it is an error, text) of the tool calls of the last conversation."""
    found = []
    for block in model.conversation[-1].tool_results:
        content = block["content"]
        text = content if isinstance(content, str) else "".join(part["text"] for part in content)
        found.append((bool(block.get("is_error")), text))
    return found


def listed(page: str) -> list[dict[str, Any]]:
    """The suggestions of a page as the agent reads it: what stands between the two equal lines."""
    _, fence, *lines, end = page.split("\n")
    assert fence == end
    return [json.loads(line) for line in lines]
