"""Random work in real sandboxes while the owner edits: an undo brings the project back, and nothing of the owner's is lost."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings

from tests.changes.listing import listed
from tests.changes.random_work import OWNERS, WORK, Owners, comes_back, own
from tests.conftest import needs_bubblewrap
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use
from tests.support.server import Server

pytestmark = [needs_bubblewrap, pytest.mark.long]


class InBubblewrap:
    """A computer whose agents are in bubblewrap; the owner writes between two calls of the agent's tool."""

    def __init__(self, server: Server, model: MessagesAPI) -> None:
        self._computer = server
        self._model = model
        self._session = ""
        self.project = server.vault / "Projects/boat"

    def clear(self) -> None:
        """Begin with an empty project."""
        shutil.rmtree(self.project, ignore_errors=True)
        self.project.mkdir(parents=True)

    def own(self, changes: Owners) -> dict[str, str]:
        """Write as the owner."""
        return own(self.project, changes)

    def listed(self) -> dict[str, str]:
        """Everything in the project."""
        return listed(self.project)

    def read(self, path: str) -> str:
        """A file of the project."""
        return (self.project / path).read_text()

    def turn(self, script: str, meanwhile: Callable[[], object]) -> None:
        """Half of the script, the owner, and the other half, while the first one is being applied."""
        lines = script.splitlines()
        half = len(lines) // 2

        def again(_: object) -> Reply:
            meanwhile()
            return tool_use("Bash", {"command": "\n".join((*lines[half:], "true"))})

        self._model.script(tool_use("Bash", {"command": "\n".join((*lines[:half], "true"))}), again, text("Done."))
        body = {"message": "Work.", "sessionId": "new", "module": "chat", "workingDirectory": str(self.project)}
        answer = self._post("/api/chat", body)
        events = [json.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: ")]
        assert events[-1]["type"] == "done", events[-1]
        assert [event["isError"] for event in events if event["type"] == "tool_result"] == [False, False]
        self._session = events[-1]["sessionId"]

    def _post(self, path: str, body: dict[str, Any]) -> httpx2.Response:
        with httpx2.Client(base_url=self._computer.url, timeout=90, **PLAIN) as client:
            return client.post(path, json=body)

    def undo(self) -> None:
        """Take the turn back."""
        answer = self._post(f"/api/chat/{self._session}/undo", {})
        assert answer.status_code == 200 or answer.json()["key"] == "nothing_to_undo", answer.text


@pytest.fixture(scope="module")
def place() -> Iterator[InBubblewrap]:
    """One computer for all examples."""
    with MessagesAPI() as model, Server(environment=model.credentials) as server:
        yield InBubblewrap(server, model)


@settings(max_examples=15, deadline=None)
@given(before=OWNERS, script=WORK, meanwhile=OWNERS)
def test_the_project_comes_back(place: InBubblewrap, before: Owners, script: str, meanwhile: Owners) -> None:
    place.project = place.project.with_name("random")
    comes_back(place, before, script, meanwhile)


def test_a_repository_and_what_is_obeyed_wait_meanwhile(place: InBubblewrap) -> None:
    """One example that says that the agent was at work at all."""
    place.project = place.project.with_name("boat")
    place.clear()
    place.own([("a", "x")])
    place.turn("echo b > b\ngit init -q c\necho y > a\necho z > d", lambda: place.own([("b", "x")]))
    assert sorted(path.name for path in Path(place.project).iterdir()) == ["a", "b", "c", "d"]
    assert place.read("a") == "y\n"
    assert place.read("b") == "owner x\n"
    assert not (place.project / "c/.git").exists()
    place.undo()
    assert sorted(path.name for path in Path(place.project).iterdir()) == ["a", "b"]
    assert place.read("a") == "owner x\n"
