"""Questions without an agent keep to the same rules as the endpoints of agents."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from parachute.llm.gateway.models import QUESTIONS
from parachute.llm.gateway.questions import NotAnswered, Questions
from tests.support.errors import raises
from tests.support.messages_api import MessagesAPI, error, text

from .conftest import KEY, TOKEN, Installation

ASKED = {"prompt": "Who?", "system": None, "max_tokens": 100, "source": ("cli", "owner")}


@pytest.fixture
async def make(folder: Path, api: MessagesAPI) -> AsyncIterator[Any]:
    """Makes questions of an installation with settings, and a credential unless `key` is another."""
    made: list[Installation] = []

    async def making(key: str = KEY, **settings: Any) -> tuple[Questions, Installation]:
        api.require(api_key=KEY)
        environment = {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": api.url}
        installation = Installation(folder, environment, settings)
        await installation.open()
        made.append(installation)
        return Questions(installation.gateway, None), installation

    yield making
    for installation in made:
        await installation.close()


async def test_an_answer_is_counted_and_audited(make: Any, api: MessagesAPI) -> None:
    questions, installation = await make()
    api.script(text("Ottilie.").using(input_tokens=1_000_000, output_tokens=100_000))
    answer = await questions.ask("Who?", "Answer shortly.", 100, source=("api_key", "phone"))
    assert (answer.text, answer.stop_reason) == ("Ottilie.", "end_turn")
    assert answer.usage.dollars == pytest.approx(1.5)
    assert "haiku" in answer.model
    request = api.conversation[-1]
    assert request.headers["x-api-key"] == KEY
    assert {name: request.body[name] for name in ("system", "max_tokens", "messages")} == {
        "system": "Answer shortly.",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Who?"}],
    }
    assert "tools" not in request.body
    assert await installation.gateway.spending.today() == pytest.approx(1.5)
    assert (await installation.gateway.used_by(QUESTIONS)).requests == 1
    await installation.audit.close()
    assert '"source_type": "api_key", "source_id": "phone"' in installation.audit_text()
    assert KEY not in installation.audit_text()


async def test_the_limit_of_a_day_holds(make: Any, api: MessagesAPI) -> None:
    questions, _ = await make(daily_spending_limit=1.0)
    api.script(text("Yes.").using(input_tokens=1_000_000))
    await questions.ask(**ASKED)
    with pytest.raises(NotAnswered) as caught:
        await questions.ask(**ASKED)
    assert (caught.value.status, caught.value.key) == (402, "billing_error")
    assert len(api.conversation) == 1


async def test_which_model_is_asked(make: Any, api: MessagesAPI) -> None:
    api.default(text("Yes."))
    for settings, part in (
        ({}, "haiku"),
        ({"model": "sonnet"}, "claude-sonnet-"),
        ({"model": "opus[1m]"}, "claude-opus-"),
        ({"model": "claude-sonnet-4-0"}, "claude-sonnet-4-0"),
        ({"allowed_models": ["*sonnet*"]}, "claude-sonnet-"),
    ):
        questions, _ = await make(**settings)
        await questions.ask(**ASKED)
        assert part in api.conversation[-1].body["model"]
    before = len(api.requests)
    questions, _ = await make(model="claude-opus-4-1", allowed_models=["*haiku*"])
    with raises("service_error", names="allowed_models"):
        await questions.ask(**ASKED)
    questions, _ = await make(allowed_models=["none"])
    with raises("no_model"):
        await questions.ask(**ASKED)
    questions, _ = await make(provider="compatible", base_url=api.url)
    with raises("no_model"):
        await questions.ask(**ASKED)
    assert [request.kind for request in api.requests[before:]] == ["models"]


REPLIES = [
    (error(401, "authentication_error", "invalid x-api-key"), 502, "invalid_credentials"),
    (error(429, "rate_limit_error", "Slow down."), 429, "rate_limited"),
    (error(529, "overloaded_error", "Overloaded"), 503, "service_unavailable"),
    (error(400, "invalid_request_error", "prompt is too long: 9 tokens"), 413, "context_exceeded"),
    (error(500, "api_error", f"Wrong: {KEY}"), 502, "service_error"),
]


@pytest.mark.parametrize(("reply", "status", "key"), REPLIES, ids=[key for _, _, key in REPLIES])
async def test_errors_of_the_service_are_told(make: Any, api: MessagesAPI, reply: Any, status: int, key: str) -> None:
    questions, _ = await make(model="claude-haiku-4-5")
    api.script(reply)
    with pytest.raises(NotAnswered) as caught:
        await questions.ask(**ASKED)
    assert (caught.value.status, caught.value.key) == (status, key)
    assert KEY not in str(caught.value)


async def test_a_service_that_is_down(make: Any, api: MessagesAPI) -> None:
    questions, _ = await make(model="claude-haiku-4-5")
    api.stop()
    with pytest.raises(NotAnswered) as caught:
        await questions.ask(**ASKED)
    assert caught.value.key == "network_error"


async def test_why_nothing_can_be_asked(folder: Path, api: MessagesAPI) -> None:
    login = {"claudeAiOauth": {"accessToken": TOKEN, "expiresAt": 1000}}
    for settings, key, stored, reason in (
        ({}, KEY, None, None),
        ({"provider": "compatible", "base_url": api.url, "model": "any"}, "", None, None),
        ({"provider": "anthropic"}, "", None, "no credentials"),
        ({"provider": "anthropic"}, "", login, "has expired"),
        ({}, "", None, "too small"),
        ({"provider": "compatible"}, "", None, "needs the address"),
    ):
        installation = Installation(folder, {"ANTHROPIC_API_KEY": key}, settings)
        path = installation.claude / ".credentials.json"
        path.write_text(json.dumps(stored or {}))
        found = await Questions(installation.gateway, None).reason_unavailable()
        assert (found is None) == (reason is None)
        assert (reason or "") in (found or "")
