"""S8: an agent that asks for much at once, or leaves before it is known what that cost."""

# ruff: noqa: F811 - fixtures of another file have the names of parameters here

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parachute.llm.gateway.content import refusal
from parachute.llm.gateway.endpoint import SOCKET_NAME, ModelEndpoint
from tests.conftest import api  # noqa: F401 - the one of each test
from tests.llm.gateway.conftest import KEY, Installation, agent, question
from tests.support.gate import Gate
from tests.support.messages_api import MessagesAPI, hold, several, text

DEAR = "claude-unknown"
"""A model at the highest price, 75 dollars for a million tokens of output."""


@pytest.fixture
async def limited(api: MessagesAPI) -> AsyncIterator[Installation]:
    """A gateway that may spend two dollars a day."""
    folder = Path(tempfile.mkdtemp(prefix="pgw-", dir="/tmp"))
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}
    made = Installation(folder, environment, {"daily_spending_limit": 2.0})
    await made.open()
    yield made
    await made.close()
    shutil.rmtree(folder)


@pytest.mark.long
async def test_requests_at_the_same_time_keep_the_limit(limited: Installation, api: MessagesAPI) -> None:
    api.default(text("Yes.").using(input_tokens=10, output_tokens=10_000))
    endpoints = [await limited.gateway.open(f"s{number}") for number in range(8)]

    async def ask(endpoint: ModelEndpoint) -> int:
        async with agent(endpoint) as client:
            return (await client.post("/v1/messages", json=question(model=DEAR, max_tokens=10_000))).status_code

    statuses = await asyncio.gather(*(ask(endpoint) for endpoint in endpoints * 5))
    price = 10_000 * 75 / 1_000_000
    assert set(statuses) == {200, 400}
    assert statuses.count(200) <= 3
    assert await limited.gateway.spending.today() < 2.0 + price


async def test_an_answer_that_is_broken_off_is_paid(limited: Installation, api: MessagesAPI) -> None:
    api.default(lambda body: several(text("word " * 600, chunks=20), hold(Gate(), text("end"))))
    endpoint = await limited.gateway.open("one")
    async with agent(endpoint) as client, client.stream("POST", "/v1/messages", json=question(model=DEAR)) as response:
        seen = 0
        async for part in response.aiter_text():
            seen += part.count('"text_delta"')
            if seen == 20:
                break
    await api.happens(lambda: api.disconnects == 1, "the client has left")
    await limited.gateway.close("one")
    used = await limited.gateway.used_by("one")
    assert used.output_tokens >= 900


async def test_an_answer_that_nobody_waits_for_is_paid(limited: Installation, api: MessagesAPI) -> None:
    gate = Gate()
    api.default(hold(gate, text("The answer.")))
    endpoint = await limited.gateway.open("one")
    async with agent(endpoint) as client:
        asking = asyncio.create_task(client.post("/v1/messages", json=question(stream=False, model=DEAR)))
        await gate.reached()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    await api.happens(lambda: api.disconnects == 1, "the client has left")
    await limited.gateway.close("one")
    assert (await limited.gateway.used_by("one")).output_tokens == 100


async def test_a_quick_client_is_written_down(limited: Installation, api: MessagesAPI) -> None:
    """The client leaves as soon as it has the last event, while the ledger is still being written."""
    api.default(text("Yes.").using(input_tokens=10, output_tokens=10))
    endpoint = await limited.gateway.open("one")
    body = json.dumps(question()).encode()
    request = (
        f"POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: {endpoint.token}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode() + body

    async def ask() -> None:
        reader, writer = await asyncio.open_unix_connection(str(endpoint.folder / SOCKET_NAME))
        writer.write(request)
        await reader.readuntil(b"message_stop")
        writer.transport.abort()

    for _ in range(40):
        await ask()
    await limited.gateway.close("one")
    await limited.gateway.spending.close()
    assert (await limited.gateway.used_by("one")).requests == 40


@pytest.mark.parametrize("field", ["speed", "service_tier", "inference_geo", "thread", "container", "anything_new"])
def test_what_is_not_known_is_not_passed_on(field: str) -> None:
    sentence = refusal({**question(), field: "fast"})
    assert sentence is not None
    assert field in sentence


def test_what_the_program_sends_is_known() -> None:
    """As the program of the SDK sends it, looked at in requests of 2.1.187."""
    body = question(
        system=[],
        tools=[],
        tool_choice={"type": "auto"},
        metadata={"user_id": "{}"},
        thinking={"type": "adaptive", "display": "updates"},
        context_management={"edits": []},
        output_config={"effort": "medium"},
    )
    assert refusal(body) is None
