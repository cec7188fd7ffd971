"""A session that changes between sandbox and direct keeps its history."""

import pytest

from tests.chat.runs.answers import transcript_with
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server
from tests.support.sse import chat

pytestmark = pytest.mark.long


async def test_history_survives_a_change_of_level_and_back(server: Server, api: MessagesAPI) -> None:
    api.script(text("one"), tool_use("Bash", {"command": "pwd; touch made-here"}), text("two"), text("three"))
    async with server.client() as client:
        async with chat(client, "first") as stream:
            await stream.collect()
        session = stream.terminal["sessionId"]
        for message, level in (("second", "direct"), ("third", "sandboxed")):
            changed = await client.patch(f"/api/chat/{session}/config", json={"trustLevel": level})
            assert changed.json()["session"]["trustLevel"] == level
            async with chat(client, message, session_id=session) as stream:
                await stream.collect()
            assert stream.terminal["type"] == "done", stream.terminal
            stored = (await client.get(f"/api/chat/{session}")).json()
            assert stored["effectiveExecutionMode"] == level
        await transcript_with(client, session, "three")
    said = str(api.conversation[-1].body["messages"])
    assert [word in said for word in ("first", "one", "second", "two", "third")] == [True] * 5
    # The direct turn worked in the vault itself.
    assert (server.vault / "made-here").exists()


@pytest.mark.long
async def test_a_session_that_began_direct_goes_on_in_its_sandbox(server: Server, api: MessagesAPI) -> None:
    api.script(text("one"), text("two"))
    async with server.client() as client:
        async with chat(client, "first", trustLevel="direct") as stream:
            await stream.collect()
        session = stream.terminal["sessionId"]
        await client.patch(f"/api/chat/{session}/config", json={"trustLevel": "sandboxed"})
        async with chat(client, "second", session_id=session) as stream:
            await stream.collect()
        assert stream.terminal["type"] == "done", stream.terminal
        assert (await client.get(f"/api/chat/{session}")).json()["effectiveExecutionMode"] == "sandboxed"
    said = str(api.conversation[-1].body["messages"])
    assert [word in said for word in ("first", "one", "second")] == [True] * 3
