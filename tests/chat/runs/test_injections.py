"""Further messages while a run goes on."""

import asyncio

import pytest

from tests.chat.runs.answers import answered, ended, session_of
from tests.chat.runs.conftest import forgetful
from tests.chat.runs.test_stopping import paused
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text, tool_use
from tests.support.server import Server
from tests.support.sse import chat

pytestmark = pytest.mark.long


@pytest.fixture
def server(make_server: Make[Server]) -> Server:
    """A server whose agents are real: what comes during an answer, and commands, are theirs."""
    return forgetful(make_server(real_agents=True))


async def test_a_message_during_the_answer_is_answered_in_the_same_run_and_none_after_it(
    server: Server, api: MessagesAPI
) -> None:
    gate = Gate()
    api.script(several(text("One "), hold(gate, text("moment."))), text("And that too."))
    async with server.client() as client:
        async with chat(client, "Begin.") as stream:
            await stream.until("text")
            session = session_of(stream)
            assert (await client.post(f"/api/chat/{session}/inject", json={"message": "Also @this"})).status_code == 200
            gate.open()
            await stream.collect()
        assert ended(stream)["type"] == "done"
        assert stream.text.endswith("And that too.")
        assert [event["content"] for event in stream.of_type("user_message")] == ["Begin.", "Also @this"]
        assert "Also @this" in str(api.conversation[-1].body["messages"])
        api.script(text("Fine."))
        assert (await answered(client, "Next.", session)).text == "Fine."
        for path, body in (
            ("inject", {"message": "Hello?"}),
            ("abort", None),
            ("answer", {"request_id": "x", "answers": {}}),
            ("permissions/x", {"allow": True}),
        ):
            assert (await client.post(f"/api/chat/{session}/{path}", json=body)).status_code == 404


async def test_a_message_during_a_tool_is_folded_into_the_turn(server: Server, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(several(hold(gate), tool_use("Bash", {"command": "echo hi"})), text("All done."))
    api.default(text("All done."))
    async with server.client() as client:
        async with chat(client, "Begin.") as stream:
            await stream.until("init")
            session = session_of(stream)
            await gate.reached()
            assert (await client.post(f"/api/chat/{session}/inject", json={"message": "Quickly!"})).status_code == 200
            gate.open()
            await stream.collect()
        assert ended(stream)["type"] == "done"
        assert "Quickly!" in str(api.conversation[-1].body["messages"])


async def test_messages_before_the_agent_is_there_wait_and_too_many_are_refused(
    computer: Computer, api: MessagesAPI
) -> None:
    api.default(text("Yes."))
    async with computer.client() as client:
        with paused(computer.processes()[0]):
            async with chat(client, "Begin.") as stream:
                await stream.until("user_message")
                session = session_of(stream)
                statuses = [
                    (await client.post(f"/api/chat/{session}/inject", json={"message": f"more {number}"})).status_code
                    for number in range(11)
                ]
                assert statuses == [200] * 10 + [429]
                empty = await client.post(f"/api/chat/{session}/inject", json={"message": "  "})
                assert (empty.status_code, "message" in empty.json()["detail"]) == (422, True)
            # The stream was left; the run is not.
            assert (await client.get(f"/api/chat/{session}/stream-status")).json() == {"active": True}
        events = await client.get(f"/api/chat/{session}/events")
        assert '"type": "done"' in events.text
        sent = str(api.conversation[-1].body["messages"])
        assert all(f"more {number}" in sent for number in range(10))


async def test_a_command_of_the_program_ends_the_run_too(server: Server, api: MessagesAPI) -> None:
    api.default(text("Yes."))
    async with server.client() as client:
        session = session_of(await answered(client, "Hello."))
        for message in ("/nonsense", "/compact", "/clear"):
            assert ended(await answered(client, message, session))["type"] == "done"
            assert (await answered(client, "Still there?", session)).text == "Yes."


async def test_two_messages_at_once_start_one_run(server: Server, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(text("First."))
    async with server.client() as client:
        session = session_of(await answered(client))
        api.script(hold(gate, text("Second.")))
        body = {"message": "Go.", "sessionId": session}

        async def send() -> int:
            async with client.stream("POST", "/api/chat", json=body) as response:
                return response.status_code

        assert sorted(await asyncio.gather(*(send() for _ in range(4)))) == [200, 409, 409, 409]
        gate.open()
        assert '"type": "done"' in (await client.get(f"/api/chat/{session}/events")).text
