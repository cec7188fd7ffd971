"""Failures of the model's service."""

import socket

import pytest

from tests.chat.runs.answers import answered, ended, session_of
from tests.chat.runs.conftest import forgetful
from tests.support.making import Make
from tests.support.messages_api import (
    EXPIRED,
    Gate,
    MessagesAPI,
    drop_after,
    error,
    hold,
    several,
    stream_error,
    text,
    tool_use,
)
from tests.support.server import Server
from tests.support.sse import bubble_of, chat

REFUSALS = {
    "invalid_credentials": error(401, "authentication_error", "invalid x-api-key"),
    "expired_token": error(401, "authentication_error", EXPIRED),
    "rate_limited": error(429, "rate_limit_error", "Slow down.", {"retry-after": "0"}),
    "service_unavailable": error(529, "overloaded_error", "Overloaded"),
    "context_exceeded": error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "service_error": error(400, "invalid_request_error", "Something else."),
}


@pytest.fixture
def server(make_server: Make[Server]) -> Server:
    """A server whose agents are real: what they do with errors is theirs."""
    return forgetful(make_server(real_agents=True))


@pytest.mark.timeout(400)
@pytest.mark.long
async def test_each_refusal_has_its_code_and_the_next_message_works(server: Server, api: MessagesAPI) -> None:
    async with server.client() as client:
        session = "new"
        for code, refusal in REFUSALS.items():
            api.default(refusal)
            stream = await answered(client, f"Message before {code}.", session)
            session, end = session_of(stream), ended(stream)
            assert (end["type"], end["code"], end["sessionId"]) == ("typed_error", code, session)
            assert refusal.message in end["message"]
            assert end["actions"]
            assert stream.text == ""
            if code == "rate_limited":
                assert end["retryDelayMs"] == 0
        api.default(text("Better."))
        stream = await answered(client, "Second message.", session)
        assert stream.text == "Better."
        assert "Message before service_error." in str(api.conversation[-1].body["messages"])


@pytest.mark.long
async def test_a_connection_that_breaks_in_the_answer(server: Server, api: MessagesAPI) -> None:
    api.default(drop_after(5))
    async with server.client() as client:
        stream = await answered(client, "First message.")
        assert ended(stream)["code"] == "network_error"
        api.default(text("Better."))
        assert (await answered(client, "Second message.", session_of(stream))).text == "Better."


@pytest.mark.long
async def test_a_service_that_is_not_there(make_server: Make[Server]) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # and does not listen: the port is refused, and nobody else's
        server = make_server(
            environment={"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}, real_agents=True
        )
        async with server.client() as client:
            assert ended(await answered(client, "First message."))["code"] == "network_error"


@pytest.mark.long
async def test_an_answer_that_broke_off_is_gone_when_it_is_given_once_more(server: Server, api: MessagesAPI) -> None:
    gate = Gate()
    half = several(text("The badger is half"), hold(gate))
    api.script(
        several(text("Let me look."), tool_use("Bash", {"command": "true"})),
        stream_error("overloaded_error", "Overloaded", half),
        text("The whole answer."),
    )
    async with server.client() as client:
        async with chat(client, "Look.") as stream:
            await stream.until("tool_result")
            assert (await stream.until("text"))["content"] == "The badger is half"
            gate.open()
            await stream.collect()
        session = ended(stream)["sessionId"]
        again = await client.get(f"/api/chat/{session}/events", params={"text": "delta"})
        found = (await client.get("/api/chat", params={"search": "badger"})).json()["sessions"]
    assert [block.text for block in bubble_of(stream.events) if block.text] == ["Let me look.", "The whole answer."]
    assert '"type": "text"' in again.text, "who reads pieces hears that some of them are gone"
    assert found == []
