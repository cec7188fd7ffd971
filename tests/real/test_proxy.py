"""LiteLLM between us and the model, as a provider with a name: what it is said to have, whole turns, and its refusals."""

from collections.abc import Iterator
from typing import Any

import pytest

from parachute.security.keys.cli_token import CliToken
from tests.chat.runs.answers import answered, ended, session_of
from tests.conftest import needs_bubblewrap
from tests.real.litellm import BEHIND, KEY, MODEL, litellm
from tests.support.messages_api import MessagesAPI, error, text, tool_use
from tests.support.server import Server

pytestmark = [needs_bubblewrap, pytest.mark.long]

ASKED = f"proxy/{MODEL}"


@pytest.fixture(scope="module")
def behind() -> Iterator[MessagesAPI]:
    """The model behind it, which nobody reaches without its key."""
    with MessagesAPI() as api:
        api.require(api_key=BEHIND)
        yield api


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, behind: MessagesAPI) -> Iterator[str]:
    """The proxy."""
    with litellm(tmp_path_factory.mktemp("litellm"), behind.url) as url:
        yield url


@pytest.fixture(scope="module")
def house(behind: MessagesAPI) -> Iterator[Server]:
    """A computer whose first provider is elsewhere, and does not answer."""
    environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-real", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    with Server(environment=environment, real_agents=True) as server:
        yield server


async def connected(house: Server, address: str, model: str = MODEL, name: str = "proxy") -> dict[str, Any]:
    """Connect it as `parachute auth login --name` does; what it showed."""
    body = {"provider": "compatible", "base_url": address, "model": model, "secret": KEY, "name": name}
    headers = {"authorization": f"Bearer {CliToken(house.home.root).obtain()}"}
    async with house.client() as client:
        answer = await client.put("/api/provider", json=body, headers=headers, timeout=120)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_it_is_seen_what_it_has(house: Server, address: str, behind: MessagesAPI) -> None:
    with behind.lent(text("Yes.")):
        found = await connected(house, address)
        assert [found[name] for name in ("tools", "streams", "counts", "window")] == [True, True, True, 200_000]
        absent = await connected(house, address, "no-such-model", "absent")
    # That a model is not there says nothing of tools.
    assert [absent[name] for name in ("tools", "streams")] == [None, None]


async def test_a_turn_with_a_tool_and_an_answer_that_grows(house: Server, address: str, behind: MessagesAPI) -> None:
    await connected(house, address)
    words = " ".join(f"word{number}" for number in range(60))
    with behind.lent():
        behind.script(tool_use("Bash", {"command": "echo ferry at nine"}), text(words, 20, 0.05))
        async with house.client() as client:
            stream = await answered(client, "When does it leave?", model=ASKED)
    assert (ended(stream)["type"], stream.text) == ("done", words)
    (result,) = stream.of_type("tool_result")
    assert "ferry at nine" in result["content"]
    assert len(stream.of_type("text")) > 3
    assert "ferry at nine" in str(behind.conversation[-1].body["messages"])
    assert KEY not in str([each.headers for each in behind.requests])


async def test_its_refusals_are_said_and_the_next_message_works(
    house: Server, address: str, behind: MessagesAPI
) -> None:
    await connected(house, address)
    session = "new"
    async with house.client() as client:
        for code, refusal in (
            ("rate_limited", error(429, "rate_limit_error", "Slow down.", {"retry-after": "0"})),
            ("context_exceeded", error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000")),
            ("service_unavailable", error(529, "overloaded_error", "Overloaded")),
        ):
            with behind.lent(refusal):
                stream = await answered(client, f"Before {code}.", session, model=ASKED)
            session = session_of(stream)
            assert (ended(stream)["type"], ended(stream)["code"]) == ("typed_error", code), ended(stream)
        with behind.lent(text("Better.")):
            assert (await answered(client, "Again.", session, model=ASKED)).text == "Better."
            unknown = await answered(client, "Hello.", model="proxy/no-such-model")
    assert ended(unknown)["type"] == "typed_error"
    assert "no-such-model" in ended(unknown)["message"]
