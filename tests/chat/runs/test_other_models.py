"""Warnings where the current model cannot do, or is not, what a message asks for."""

import pytest

from tests.support.messages_api import MessagesAPI
from tests.support.replies import text
from tests.support.server import Server

from .answers import answered

pytestmark = pytest.mark.long

ATTACHMENT = {"fileName": "a.txt", "mimeType": "text/plain", "type": "text", "base64Data": "YQ=="}


async def test_the_small_model_declines_attachments() -> None:
    with Server() as server:
        async with server.client() as client:
            answer = await client.post("/api/chat", json={"message": "What is in it?", "attachments": [ATTACHMENT]})
    assert answer.status_code == 503
    assert answer.json()["key"] == "offline_model"
    assert "parachute auth login" in answer.json()["hint"]


async def test_a_model_that_is_not_used_and_unknown_fields_are_named(api: MessagesAPI) -> None:
    api.default(text("Hello."))
    settings = {"provider": "compatible", "base_url": api.url, "model": "qwen3"}
    with Server(settings=settings) as server:
        async with server.client() as client:
            stream = await answered(client, model="claude-opus-5", trustlevel="direct", sessionId="new")
    warnings = [event["message"] for event in stream.events if event["type"] == "warning"]
    assert "claude-opus-5 is not used: qwen3 answers, as the settings say." in warnings
    assert "The message has unknown fields: trustlevel." in warnings
