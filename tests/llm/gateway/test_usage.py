"""Counting what is used, and the limit of a day."""

import asyncio
from pathlib import Path

import pytest

from parachute.config.settings.home import Home
from parachute.llm.gateway.accounting import UsageReader
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.endpoint import ModelEndpoint
from parachute.llm.gateway.inbox import SpendingSource
from parachute.llm.gateway.models import Payer, Provider, Usage, payer_of
from parachute.llm.gateway.prices import dollars
from tests.support.messages_api import MessagesAPI, text

from .conftest import KEY, TOKEN, Installation, agent, question

ANSWER = text("Yes.").using(
    input_tokens=1_000_000, output_tokens=100_000, cache_read_input_tokens=10, cache_creation_input_tokens=20
)


@pytest.mark.parametrize("stream", [True, False])
async def test_usage_is_counted(
    installation: Installation, endpoint: ModelEndpoint, api: MessagesAPI, stream: bool
) -> None:
    api.script(ANSWER, ANSWER)
    async with agent(endpoint) as client:
        for _ in range(2):
            assert (await client.post("/v1/messages", json=question(stream=stream))).status_code == 200
    used = await installation.gateway.used_by("one")
    assert (used.requests, used.input_tokens, used.output_tokens) == (2, 2_000_000, 200_000)
    assert (used.cache_read_tokens, used.cache_write_tokens) == (20, 40)
    assert used.dollars == pytest.approx(3.0, abs=0.01)
    assert await installation.gateway.spending.today() == pytest.approx(used.dollars)
    assert (await installation.gateway.used_by("two")).requests == 0


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_at_its_longest_is_the_last(installation: Installation, api: MessagesAPI, stream: bool) -> None:
    cut = text("word " * 50).using(stop_reason="max_tokens")
    api.script(cut, text("Yes."), cut)
    endpoint = await installation.gateway.open("asked", asked_by=("cli", "owner"), most_tokens=100)
    async with agent(endpoint) as client:
        # The first is short because it was asked for so, as the agent's program does to try a login.
        asked = [
            await client.post("/v1/messages", json=question(stream=stream, max_tokens=most))
            for most in (50, 4096, 4096, 4096)
        ]
    assert [each.status_code for each in asked] == [200, 200, 200, 403]
    assert len(api.requests) == 3


async def test_usage_survives_a_restart(installation: Installation, endpoint: ModelEndpoint, api: MessagesAPI) -> None:
    api.script(ANSWER)
    async with agent(endpoint) as client:
        await client.post("/v1/messages", json=question())
    await installation.close()
    again = Installation(installation.folder, {"ANTHROPIC_API_KEY": KEY}, {})
    await again.open()
    assert (await again.gateway.used_by("one")).input_tokens == 1_000_000
    assert await again.gateway.spending.today() == pytest.approx(1.5, abs=0.01)
    await again.close()
    await installation.open()


async def test_a_kept_answer_is_read_in_any_pieces() -> None:
    raw = (
        b'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}\n\n'
        b'data: {"type":"content_block_delta","delta":{"text":"\\"usage\\": 99"}}\n\n'
        b'data: {"type":"message_delta","usage":{"output_tokens":5}}\n\n'
    )
    for size in (1, 3, 7, 1000):
        reader = UsageReader(streaming=True)
        for begin in range(0, len(raw), size):
            reader.feed(raw[begin : begin + size])
        reader.finish()
        assert (reader.usage.input_tokens, reader.usage.output_tokens) == (7, 5)


@pytest.mark.parametrize(
    "line",
    [
        b'{"usage": 3}',
        b'{"usage": {"input_tokens": "many", "output_tokens": -5, "cache_read_input_tokens": 1e9}}',
        b'{"usage": {"input_tokens": 99999999999999999999999}}',
        b'{"message": [], "usage"',
        b'["usage"]',
        b'{"usage":' + b"[" * 100_000,
    ],
    ids=lambda line: repr(line[:30]),
)
def test_nonsense_counts_nothing(line: bytes) -> None:
    for streaming in (True, False):
        reader = UsageReader(streaming)
        reader.feed(b"data: " + line + b"\n" if streaming else line)
        reader.finish()
        assert (reader.usage.input_tokens, reader.usage.output_tokens) == (0, 0)


async def test_the_limit_of_the_day(folder: Path, api: MessagesAPI) -> None:
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}
    installation = Installation(folder, environment, {"daily_spending_limit": 1.0})
    await installation.open()
    try:
        api.script(ANSWER, ANSWER)
        endpoint = await installation.gateway.open("one")
        other = await installation.gateway.open("two")
        async with agent(endpoint) as client:
            assert (await client.post("/v1/messages", json=question())).status_code == 200
        async with agent(other) as client:
            refused = await client.post("/v1/messages", json=question())
        assert refused.status_code == 400
        assert "$1.00" in refused.json()["error"]["message"]
        assert other.problem is not None
        assert other.problem.code == "billing_error"
        assert len(api.requests) == 1
        status = await installation.gateway.status()
        assert status.spent_today > 1.0
        assert status.daily_spending_limit == 1.0
        assert "spending limit" in (status.limit_reached or "")
        (item,) = await SpendingSource(installation.gateway.spending, installation.gateway.limits).items()
        assert (item.source, item.details["is_reached"], "of $1.00 of this day" in item.title) == (
            "computer",
            True,
            True,
        )
        # Raised while everything runs, and not by a file with a mistake in it.
        installation.home.config.write_text("daily_spending_limit: [\n")
        assert (await installation.gateway.status()).limit_reached
        installation.home.config.write_text("daily_spending_limit: 100\n")
        async with agent(other) as client:
            assert (await client.post("/v1/messages", json=question())).status_code == 200
        assert (await installation.gateway.status()).daily_spending_limit == 100.0
    finally:
        await installation.close()


async def test_two_answers_at_the_same_time_are_both_counted(installation: Installation, api: MessagesAPI) -> None:
    api.default(ANSWER)
    endpoints = [await installation.gateway.open(name) for name in ("one", "two", "three")]

    async def ask(endpoint: ModelEndpoint) -> None:
        async with agent(endpoint) as client:
            await client.post("/v1/messages", json=question())

    await asyncio.gather(*(ask(endpoint) for endpoint in endpoints))
    assert await installation.gateway.spending.today() == pytest.approx(4.5, abs=0.01)


def test_an_unknown_model_costs_the_most() -> None:
    used = Usage(input_tokens=1_000_000)
    assert dollars("claude-haiku-4-5", used) < dollars("claude-opus-5-5", used) < dollars("claude-next", used)


async def test_a_subscription_is_counted_in_tokens_and_has_its_own_limit(folder: Path, api: MessagesAPI) -> None:
    environment = {"CLAUDE_CODE_OAUTH_TOKEN": TOKEN, "ANTHROPIC_BASE_URL": api.url}
    installation = Installation(folder, environment, {"daily_spending_limit": 0.5, "daily_token_limit": 1_500_000})
    await installation.open()
    try:
        api.default(ANSWER)
        endpoint = await installation.gateway.open("one")
        async with agent(endpoint) as client:
            for expected in (200, 200, 400):
                assert (await client.post("/v1/messages", json=question())).status_code == expected
        assert endpoint.problem is not None
        assert endpoint.problem.code == "billing_error"
        assert "1,500,000 tokens" in endpoint.problem.message
        status = await installation.gateway.status()
        assert (status.tokens_today, status.daily_token_limit) == (2_200_040, 1_500_000)
        assert (status.spent_today, status.daily_spending_limit) == (0, 0.5)
        assert "daily_token_limit" in (status.limit_reached or "")
    finally:
        await installation.close()


async def test_the_limit_of_a_subscription_is_not_that_of_a_key(folder: Path, api: MessagesAPI) -> None:
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}
    installation = Installation(folder, environment, {"daily_spending_limit": None, "daily_token_limit": 1})
    await installation.open()
    try:
        api.default(ANSWER)
        async with agent(await installation.gateway.open("one")) as client:
            for _ in range(2):
                assert (await client.post("/v1/messages", json=question())).status_code == 200
        status = await installation.gateway.status()
        assert (status.tokens_today, status.limit_reached) == (0, None)
    finally:
        await installation.close()


@pytest.mark.parametrize(
    ("name", "secret", "payer"),
    [
        ("ANTHROPIC_API_KEY", KEY, Payer.KEY),
        ("CLAUDE_CODE_OAUTH_TOKEN", "any", Payer.SUBSCRIPTION),
        ("ANTHROPIC_AUTH_TOKEN", TOKEN, Payer.SUBSCRIPTION),
        ("ANTHROPIC_AUTH_TOKEN", "of a proxy", Payer.KEY),
    ],
)
def test_who_pays(folder: Path, name: str, secret: str, payer: Payer) -> None:
    credential = CredentialSource(Home(folder), {name: secret}, folder).find()
    assert payer_of(Provider("anthropic", "https://api.anthropic.com"), credential) is payer
    assert payer_of(Provider("compatible", "http://127.0.0.1", at_home=True), credential) is Payer.NOBODY
    assert payer_of(Provider("compatible", "https://models.example.org"), credential) is Payer.UNKNOWN
