"""Conversations with providers of their own, and workspaces that stay at home."""

from collections.abc import Iterator

import pytest

from tests.support.messages_api import MessagesAPI
from tests.support.replies import text
from tests.support.server import Server

from .answers import answered, session_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def home_api() -> Iterator[MessagesAPI]:
    """A server of models at home."""
    with MessagesAPI() as api:
        yield api


@pytest.fixture
def server(api: MessagesAPI, home_api: MessagesAPI) -> Iterator[Server]:
    """A computer with Claude, and with a server at home."""
    api.require()
    api.default(text("From elsewhere."))
    home_api.default(text("From home."))
    home, down = {"base_url": home_api.url, "model": "qwen3"}, {"base_url": "http://127.0.0.1:9", "model": "qwen3"}
    settings = {"providers": {"home": home, "down": down}, "fallback": ["home"]}
    with Server(settings=settings, environment=api.credentials) as server:
        yield server


async def test_each_conversation_is_answered_by_its_own_model(
    server: Server, api: MessagesAPI, home_api: MessagesAPI
) -> None:
    before, home_before = len(api.requests), len(home_api.requests)
    async with server.client() as client:
        outside = await answered(client, "One of each, elsewhere.")
        inside = await answered(client, "One of each, at home.", model="home/qwen3")
        again = await answered(client, "And once more.", session_of(inside))
        listed = (await client.get("/supervisor/models")).json()["models"]
    assert "From elsewhere." in str(outside.events)
    assert "From home." in str(inside.events)
    assert "From home." in str(again.events)
    assert "elsewhere" not in str([each.body for each in home_api.requests[home_before:]])
    assert "at home" not in str([each.body for each in api.requests[before:]])
    assert {each.body["model"] for each in home_api.conversation[home_before:]} == {"qwen3"}
    assert not [each for each in home_api.requests[home_before:] if "sk-ant" in str(each.headers)]
    assert any(each["id"].startswith("home/") for each in listed)
    assert any("/" not in each["id"] for each in listed)


async def test_a_workspace_that_stays_at_home_reaches_no_model_elsewhere(
    server: Server, api: MessagesAPI, home_api: MessagesAPI
) -> None:
    before = len(api.requests)
    async with server.client() as client:
        made = await client.post("/api/workspaces", json={"name": "Diary", "only_at_home": True})
        slug = made.json()["workspace"]["slug"]
        stream = await answered(client, "Between us.", workspaceId=slug)
        refused = await answered(client, "Between us, too.", workspaceId=slug, model="claude-opus-5")
        continued = await answered(client, "Go on.", continuedFrom=session_of(stream))
        gone = await client.delete(f"/api/workspaces/{slug}")
        reader = (await client.put(f"/api/workspaces/{slug}", json={"only_at_home": False})).json()
    assert "From home." in str(stream.events)
    assert refused.terminal["key"] == "only_at_home"
    assert "From home." in str(continued.events)
    assert gone.status_code == 409
    assert gone.json()["key"] == "stays_at_home"
    assert reader["workspace"]["only_at_home"] is False
    assert len(api.requests) == before


async def test_another_model_that_answers_is_named(server: Server) -> None:
    async with server.client() as client:
        stream = await answered(client, "Who is there?", model="down/qwen3")
    warnings = [event for event in stream.events if event["type"] == "warning"]
    assert [each["title"] for each in warnings if "home/qwen3" in each["message"]] == ["Another model answers"]
    assert "From home." in str(stream.events)
