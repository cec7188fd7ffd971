"""A message that is sent again under its key is one message, after a restart of the server, too."""

import asyncio
import secrets

import pytest

from tests.chat.runs.answers import answered, session_of
from tests.support.computer import Computer
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text
from tests.support.server import Server
from tests.support.sse import chat

pytestmark = pytest.mark.long


async def test_a_message_is_taken_once(server: Server, api: MessagesAPI) -> None:
    key = secrets.token_hex(12)
    async with server.client() as client:
        both = await asyncio.gather(*(answered(client, "Once.", idempotencyKey=key) for _ in range(2)))
        session, other = map(session_of, both)
        assert session == other
        assert [stream.of_type("user_message")[0]["content"] for stream in both] == ["Once."] * 2
        again = await answered(client, "Once.", idempotencyKey=key)
        assert (session_of(again), again.text) == (session, both[0].text)
        assert len((await client.get("/api/chat")).json()["sessions"]) == 1
        for changed in ({"message": "Another."}, {"message": "Once.", "sessionId": "0" * 36}):
            refused = await client.post("/api/chat", json={**changed, "idempotencyKey": key})
            assert (refused.status_code, refused.json()["key"]) == (409, "idempotency_key_used")
        # Under another key it is another message.
        await answered(client, "Once.", session, idempotencyKey=secrets.token_hex(12))
        said = (await client.get(f"/api/chat/{session}")).json()["messages"]
        assert [each["role"] for each in said].count("user") == 2


@pytest.mark.parametrize("key", ["short", "x" * 65, "with a space and more", 7])
async def test_a_key_that_is_none_changes_nothing(server: Server, key: object) -> None:
    async with server.client() as client:
        assert (await client.post("/api/chat", json={"message": "Hi", "idempotencyKey": key})).status_code == 422
        assert (await client.get("/api/chat")).json()["sessions"] == []


async def test_what_was_put_into_a_turn_is_not_sent_again_after_it(server: Server, api: MessagesAPI) -> None:
    gate, key = Gate(), secrets.token_hex(12)
    api.script(several(text("One "), hold(gate, text("moment."))))
    async with server.client() as client:
        async with chat(client, "Begin.") as stream:
            await stream.until("session")
            session = session_of(stream)
            for _ in range(2):
                more = {"message": "Also this.", "idempotency_key": key}
                assert (await client.post(f"/api/chat/{session}/inject", json=more)).status_code == 200
            gate.open()
            await stream.collect()
        assert [event["content"] for event in stream.of_type("user_message")] == ["Begin.", "Also this."]
        again = await answered(client, "Also this.", session, idempotencyKey=key)
        assert [event["content"] for event in again.of_type("user_message")] == ["Begin.", "Also this."]


async def test_a_message_is_taken_once_whenever_the_server_ends(computer: Computer, api: MessagesAPI) -> None:
    gate, key = Gate(), secrets.token_hex(12)
    api.script(several(text("Half. "), hold(gate)))
    async with computer.client() as client, chat(client, "Once.", idempotencyKey=key) as stream:
        await stream.until("user_message")
        session = session_of(stream)
        await asyncio.to_thread(computer.kill_core)
    async with computer.client() as client:
        again = await answered(client, "Once.", idempotencyKey=key)
        assert session_of(again) == session
        assert again.terminal["type"] == "aborted"
        assert len((await client.get("/api/chat")).json()["sessions"]) == 1
