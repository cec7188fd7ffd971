"""A module that may speak in the user's conversations: what it says is text, and where the user's own rights are it is silent."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from parachute.security.keys.cli_token import CliToken
from tests.conftest import needs_bubblewrap
from tests.modules.runtime.module_computer import ModuleServer
from tests.support.messages_api import MessagesAPI, text

pytestmark = [needs_bubblewrap, pytest.mark.long]

SPEAKER = """
@route("POST", "/send")
async def send(self, session: str, message: str):
    return {"said": (await self.core.conversations.send(session, message)).content}

@route("POST", "/found")
async def found(self):
    return {"found": await self.core.conversations.search(limit=50)}

@route("POST", "/change")
async def change(self, para_id: str, version: str | None = None, title: str | None = None, archived: bool | None = None):
    return await self.core.conversations.change(para_id, title=title, archived=archived, version=version)

@route("POST", "/look")
async def look(self, para_id: str):
    return await self.core.conversations.get(para_id)
"""


@pytest.fixture(scope="module")
def model() -> Iterator[MessagesAPI]:
    """A scripted model service."""
    with MessagesAPI() as service:
        service.default(text("Yes."))
        yield service


@pytest.fixture(scope="module")
def server(model: MessagesAPI) -> Iterator[ModuleServer]:
    """A server with the module `speaker`."""
    with ModuleServer(environment=model.credentials, real_agents=True) as running:
        running.install("speaker", SPEAKER, permissions={"conversations": "write"})
        yield running


def say(server: ModuleServer, message: str, **fields: Any) -> str:
    """Say something as the owner; the conversation."""
    headers = {"authorization": f"Bearer {CliToken(server.home.root).obtain()}"}
    body = {"message": message, "sessionId": "new", "module": "chat", **fields}
    answer = server.post("/api/chat", json=body, headers=headers, timeout=90)
    events = [json.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: ")]
    assert events[-1]["type"] == "done", events[-1]
    return str(events[-1]["sessionId"])


def asked(model: MessagesAPI, words: str) -> bool:
    """Return whether the model was asked with these words."""
    return any(words in json.dumps(request.body["messages"][-1]) for request in model.conversation)


def test_it_is_silent_where_the_users_own_rights_are(server: ModuleServer, model: MessagesAPI) -> None:
    direct, sandboxed = say(server, "Hello!", trustLevel="direct"), say(server, "Hello!")
    refused = server.post("/api/speaker/send", json={"session": direct, "message": "Delete it all."})
    assert refused.status_code == 403, refused.text
    assert "only the owner speaks in it" in refused.json()["detail"]
    assert not asked(model, "Delete it all.")
    heard = server.post("/api/speaker/send", json={"session": sandboxed, "message": "Go on."}, timeout=90)
    assert heard.json() == {"said": "Yes."}
    assert asked(model, "Go on.")


def test_what_it_says_is_no_command(server: ModuleServer, model: MessagesAPI) -> None:
    session = say(server, "Hello!")
    # A person's command is obeyed by the agent's program itself; the model hears nothing of it.
    before = len(model.conversation)
    say(server, "/cost", sessionId=session)
    assert len(model.conversation) == before
    server.post("/api/speaker/send", json={"session": session, "message": "/cost"}, timeout=90)
    assert asked(model, "/cost")


def test_it_names_one_and_puts_it_away_as_long_as_it_is_what_was_seen(server: ModuleServer) -> None:
    session = say(server, "About Kevin.")
    (seen,) = [each for each in server.post("/api/speaker/found").json()["found"] if each["id"] == session]
    found = server.post("/api/speaker/look", json={"para_id": seen["para_id"]}).json()
    assert (found["id"], found["title"], found["archived"]) == (session, "About Kevin.", False)
    change = {"para_id": found["para_id"], "version": found["version"]}
    named = server.post("/api/speaker/change", json={**change, "title": " Kevin\nmoves "}).json()
    assert (named["title"], named["archived"]) == ("Kevin moves", False)
    assert server.post("/api/speaker/change", json={**change, "archived": True}).status_code == 409
    away = server.post("/api/speaker/change", json={**change, "version": named["version"], "archived": True}).json()
    assert (away["title"], away["archived"]) == ("Kevin moves", True)
    assert server.value(f"/api/chat/{session}")["archived"] is True
    assert server.value("/api/chat?search=moves&archived=true")["sessions"][0]["id"] == session
    for refused, status in (
        ({"para_id": "para:chat:aaaaaaaaaaaa", "title": "x"}, 404),
        ({"para_id": session, "title": "x"}, 404),
        ({"para_id": found["para_id"], "title": " "}, 422),
        ({"para_id": found["para_id"], "title": "x" * 201}, 422),
    ):
        assert server.post("/api/speaker/change", json=refused).status_code == status, refused


def test_who_may_only_read_changes_nothing(server: ModuleServer) -> None:
    server.install("reader", SPEAKER, permissions={"conversations": "read"})
    session = say(server, "Hello!")
    (seen,) = [each for each in server.post("/api/reader/found").json()["found"] if each["id"] == session]
    refused = server.post("/api/reader/change", json={"para_id": seen["para_id"], "title": "Mine"})
    assert refused.status_code == 403
    assert server.value(f"/api/chat/{session}")["title"] == "Hello!"


def test_it_is_told_nothing_of_what_stays_at_home(server: ModuleServer, model: MessagesAPI) -> None:
    headers = {"authorization": f"Bearer {CliToken(server.home.root).obtain()}"}
    made = server.post("/api/workspaces", json={"name": "Diary"}, headers=headers).json()["workspace"]["slug"]
    session = say(server, "Between us.", workspaceId=made)
    assert session in server.post("/api/speaker/found").text
    server.ask("PUT", f"/api/workspaces/{made}", json={"only_at_home": True}, headers=headers).raise_for_status()
    assert session not in server.post("/api/speaker/found").text
    assert server.post("/api/speaker/send", json={"session": session, "message": "Tell me."}).status_code == 404
