"""When the model's service does not answer as it should."""

import socket

import pytest

from tests.runs.answers import answered, ended, session_of
from tests.runs.conftest import MakeComputer
from tests.support.computer import Computer, free_port
from tests.support.messages_api import EXPIRED, ErrorReply, MessagesAPI, drop_after, error, text

REFUSALS = {
    "invalid_credentials": error(401, "authentication_error", "invalid x-api-key"),
    "expired_token": error(401, "authentication_error", EXPIRED),
    "rate_limited": error(429, "rate_limit_error", "Slow down.", {"retry-after": "0"}),
    "service_unavailable": error(529, "overloaded_error", "Overloaded"),
    "context_exceeded": error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "service_error": error(400, "invalid_request_error", "Something else."),
}


@pytest.mark.parametrize(("code", "refusal"), REFUSALS.items(), ids=REFUSALS)
async def test_a_refusal_has_its_code_and_the_next_message_works(
    computer: Computer, api: MessagesAPI, code: str, refusal: ErrorReply
) -> None:
    api.default(refusal)
    async with computer.client() as client:
        stream = await answered(client, "First message.")
        end = ended(stream)
        assert (end["type"], end["code"]) == ("typed_error", code)
        assert refusal.message in end["message"]
        assert end["sessionId"] == session_of(stream)
        assert end["actions"]
        assert stream.text == ""
        if code == "rate_limited":
            assert end["retryDelayMs"] == 0
        api.default(text("Better."))
        stream = await answered(client, "Second message.", session_of(stream))
        assert stream.text == "Better."
        assert "First message." in str(api.conversation[-1].body["messages"])


async def test_a_connection_that_breaks_in_the_answer(computer: Computer, api: MessagesAPI) -> None:
    api.default(drop_after(5))
    async with computer.client() as client:
        stream = await answered(client, "First message.")
        assert ended(stream)["code"] == "network_error"
        api.default(text("Better."))
        assert (await answered(client, "Second message.", session_of(stream))).text == "Better."


async def test_a_service_that_is_not_there(make_computer: MakeComputer) -> None:
    port = free_port()
    computer = make_computer({"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"})
    async with computer.client() as client:
        stream = await answered(client, "First message.")
        assert ended(stream)["code"] == "network_error"
        with socket.create_server(("127.0.0.1", port)):
            pass  # it could have been listened on: the address is right
