"""A module that may speak in the user's conversations: what it says is text, and where the user's own rights are it is silent."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from parachute.security.keys.cli_token import CliToken
from tests.conftest import needs_bubblewrap
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.messages_api import MessagesAPI, text

pytestmark = [needs_bubblewrap, pytest.mark.long]

SPEAKER = """
@route("POST", "/send")
async def send(self, session: str, message: str):
    return {"said": (await self.core.conversations.send(session, message)).content}
"""


@pytest.fixture(scope="module")
def model() -> Iterator[MessagesAPI]:
    """A scripted model service."""
    with MessagesAPI() as service:
        service.default(text("Yes."))
        yield service


@pytest.fixture(scope="module")
def computer(model: MessagesAPI) -> Iterator[ModuleComputer]:
    """A computer with the module `speaker`."""
    environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-real", "ANTHROPIC_BASE_URL": model.url}
    with ModuleComputer(environment=environment) as running:
        running.install("speaker", SPEAKER, permissions={"conversations": "write"})
        yield running


def say(computer: ModuleComputer, message: str, **fields: Any) -> str:
    """Say something as the owner; the conversation."""
    headers = {"authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}
    body = {"message": message, "sessionId": "new", "module": "chat", **fields}
    answer = computer.post("/api/chat", json=body, headers=headers, timeout=90)
    events = [json.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: ")]
    assert events[-1]["type"] == "done", events[-1]
    return str(events[-1]["sessionId"])


def asked(model: MessagesAPI, words: str) -> bool:
    """Whether the model was asked with these words."""
    return any(words in json.dumps(request.body["messages"][-1]) for request in model.conversation)


def test_it_is_silent_where_the_users_own_rights_are(computer: ModuleComputer, model: MessagesAPI) -> None:
    direct, sandboxed = say(computer, "Hello!", trustLevel="direct"), say(computer, "Hello!")
    refused = computer.post("/api/speaker/send", json={"session": direct, "message": "Delete it all."})
    assert refused.status_code == 403, refused.text
    assert "only the owner speaks in it" in refused.json()["detail"]
    assert not asked(model, "Delete it all.")
    heard = computer.post("/api/speaker/send", json={"session": sandboxed, "message": "Go on."}, timeout=90)
    assert heard.json() == {"said": "Yes."}
    assert asked(model, "Go on.")


def test_what_it_says_is_no_command(computer: ModuleComputer, model: MessagesAPI) -> None:
    session = say(computer, "Hello!")
    # A person's command is obeyed by the agent's program itself; the model hears nothing of it.
    before = len(model.conversation)
    say(computer, "/cost", sessionId=session)
    assert len(model.conversation) == before
    computer.post("/api/speaker/send", json={"session": session, "message": "/cost"}, timeout=90)
    assert asked(model, "/cost")
