"""A computer with a module whose agents work once a day, and a model that says what the test wants."""

import textwrap
from pathlib import Path
from typing import Any

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.modules.runtime.module_computer import WithModules
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.server import Server

KEY = "sk-ant-api03-real"
AGENTS = "/api/modules/garden/agents"

BROUGHT = """
    ---
    displayName: Evening page
    description: Looks back at the day
    schedule:
      enabled: true
      time: "21:30"
    ---
    Read /vault/Garden/days/{date}.md and say in one sentence what grew since {previous_date}.
"""
OWN = """
    ---
    name: weeds
    schedule: {enabled: true, time: 6:15}
    output: Garden/weeds/{date}.md
    tools: [read, Bash]
    ---
    Look for weeds.
"""


class Gardening(WithModules):
    """An installation with the module `garden`, which writes Garden/ and brings the agent `page`."""

    def plant(self, name: str = "garden", agents: dict[str, str] | None = None, **manifest: Any) -> None:
        """Install the module."""
        folder = self.folder / "sources" / name / "agents"
        folder.mkdir(parents=True, exist_ok=True)
        for agent, text in ({"page": BROUGHT} if agents is None else agents).items():
            (folder / f"{agent}.md").write_text(textwrap.dedent(text).lstrip())
        self.install(name, **{"permissions": {"write": [f"{name.title()}/**"]}, **manifest})

    def write_agent(self, name: str, text: str, folder: str = "Garden") -> Path:
        """Put an agent's file into the vault, as a person, an app or another agent does."""
        path = self.vault / folder / ".agents" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip())
        return path

    def agent(self, name: str) -> dict[str, Any]:
        """Return core's description of one agent."""
        found: dict[str, Any] = self.value(f"{AGENTS}/{name}")
        return found

    def run(self, name: str, **body: Any) -> dict[str, Any]:
        """Run an agent now."""
        answer = self.post(f"{AGENTS}/{name}/run", json=body, timeout=60)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def let(self, name: str, digest: str | None = None) -> httpx2.Response:
        """Approve an agent as the owner, by default as it is now."""
        owner = {"authorization": f"Bearer {CliToken(self.home.root).obtain()}"}
        digest = digest or self.agent(name)["hash"]
        return self.post(f"{AGENTS}/{name}/approve", json={"hash": digest}, headers=owner)


class Garden(Gardening, Server):
    """A server, for runs."""


class GardenComputer(Gardening, Computer):
    """A computer, for crashes."""


@pytest.fixture
def garden(make_server: Make[Server]) -> Garden:
    """A server with the module `garden`."""
    server = make_server(Garden)
    server.plant()
    return server
