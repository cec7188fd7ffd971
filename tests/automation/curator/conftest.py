"""A computer whose root context watches all projects, and a model that reviews as the test says."""

from typing import Any

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use
from tests.support.noon import around_noon

ROOT = '---\nwatch:\n  - "Projects/*"\n---\n\n# All\n\n## Facts\n- I build boats\n\n## History\n'
CURATOR = "/api/contexts/curator"


class Curated(Computer):
    """The computer; its curator reviews a second after the last change."""

    def write(self, path: str, content: str) -> None:
        """A file of the vault, written by hand."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def read(self, path: str) -> str:
        """A file of the vault."""
        return (self.vault / path).read_text()

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """One request of the owner."""
        headers = {"authorization": f"Bearer {CliToken(self.home.root).obtain()}"}
        answer = httpx2.request(method, f"{self.url}{path}", json=body, headers=headers, timeout=120, **PLAIN)
        assert answer.status_code == status, answer.text
        return answer.json()

    def change(self, **settings: Any) -> None:
        """Other settings from the next start on."""
        self._settings |= settings

    def look(self) -> list[dict[str, Any]]:
        """All watches, after a look at all files."""
        found: list[dict[str, Any]] = self.ask("GET", "/api/contexts/watches")["watches"]
        return found

    def curator(self) -> dict[str, Any]:
        """The curator's waiting conversations and its reviews."""
        found: dict[str, Any] = self.ask("GET", CURATOR)
        return found

    def runs(self) -> list[dict[str, Any]]:
        """Its reviews that have ended, newest first."""
        return [run for run in self.curator()["runs"] if run["ended"]]

    def reviewed(self, count: int) -> list[dict[str, Any]]:
        """Its reviews, as soon as there are so many and none waits."""

        def done() -> list[dict[str, Any]]:
            found = self.curator()
            return [] if found["waiting"] or len(self.runs()) < count else self.runs()

        runs: list[dict[str, Any]] = self.wait_until(done, f"{count} reviews have ended")
        return runs

    def suggestions(self, status: str = "pending") -> list[dict[str, Any]]:
        """Suggestions about contexts."""
        path = f"/api/suggestions?status={status}&module=contexts"
        found: list[dict[str, Any]] = self.ask("GET", path)["suggestions"]
        return found

    def decide(self, identifier: str, what: str, body: Any = None, status: int = 200) -> Any:
        """Approve, reject, modify or undo."""
        return self.ask("POST", f"/api/suggestions/{identifier}/{what}", body, status)

    def furnish(self) -> None:
        """Write the contexts, and have them known."""
        self.write("AGENTS.md", ROOT)
        self.write("Projects/boat/AGENTS.md", "# Boat\n\nA blue boat.\n")
        self.look()


def listing() -> Reply:
    """The curator reads the files."""
    return tool_use("mcp__parachute__list_context_files", {})


def update(content: str, section: str = "history", file: str = "AGENTS.md") -> Reply:
    """The curator proposes a section."""
    return tool_use("mcp__parachute__update_context", {"file": file, "section": section, "content": content})


def results(model: MessagesAPI) -> list[tuple[bool, str]]:
    """(whether it is an error, text) of the tool calls of the last conversation."""
    found = []
    for block in model.conversation[-1].tool_results:
        content = block["content"]
        said = content if isinstance(content, str) else "".join(part["text"] for part in content)
        found.append((bool(block.get("is_error")), said))
    return found


def curated(model: MessagesAPI, **settings: Any) -> Curated:
    """A computer with settings of the curator."""
    # A day's reviews are counted.
    environment = {**model.credentials, "TZ": around_noon()}
    return Curated(settings={"curator": {"quiet_seconds": 1, **settings}}, environment=environment)


@pytest.fixture
def quiet(make_computer: Make[Computer], api: MessagesAPI) -> Curated:
    """A computer with contexts, where nothing waits."""
    api.default(text("Nothing matters here."))
    computer = make_computer(Curated, curator={"quiet_seconds": 1})
    computer.furnish()
    return computer
