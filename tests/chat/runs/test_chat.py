"""A chat turn as the app sees it, with the real SDK, program and sandbox."""

import pytest

from tests.chat.runs.answers import transcript_with
from tests.contract.models import check_stream
from tests.support.messages_api import MessagesAPI, text, thinking, tool_use
from tests.support.server import Server
from tests.support.sse import chat

pytestmark = pytest.mark.long


async def test_a_message_is_answered_and_remembered(server: Server, api: MessagesAPI) -> None:
    api.script(text("Hello, Ada.", chunks=3), text("You said hello."))
    async with server.client() as client:
        async with chat(client, "Hello!") as stream:
            await stream.collect()
        stream.assert_clean()
        check_stream(stream.events)
        assert stream.text == "Hello, Ada."
        session = stream.terminal["sessionId"]
        async with chat(client, "What did I say?", session_id=session) as stream:
            await stream.collect()
        assert stream.text == "You said hello."
        assert stream.terminal["sessionResume"]["cacheHit"] is True
        events = await transcript_with(client, session, "You said hello.")
        assert [event["type"] for event in events] == ["user", "assistant", "user", "assistant"]
    # The second request carried the first turn, and the real key, which the box never saw.
    assert "Hello, Ada." in str(api.conversation[-1].body["messages"])
    assert api.conversation[-1].headers["x-api-key"] == "sk-ant-api03-real"


async def test_a_sandboxed_agent_writes_and_runs_commands_without_being_asked(server: Server, api: MessagesAPI) -> None:
    api.script(
        thinking("I will look.", then=tool_use("Bash", {"command": "echo one > a.txt; cat a.txt; id -u; pwd"})),
        text("Done."),
    )
    async with server.client() as client, chat(client, "Make a file.") as stream:
        await stream.collect()
    check_stream(stream.events)
    (result,) = stream.of_type("tool_result")
    assert result["content"].splitlines()[:2] == ["one", "1000"]
    assert result["content"].splitlines()[2].startswith("/scratch/")
    assert stream.text == "Done."
    assert not stream.of_type("permission_request")


async def test_hard_rules_deny_also_in_the_sandbox(server: Server, api: MessagesAPI) -> None:
    commands = ("sudo true", "rm -rf /", "cat ~/.parachute/keys.yaml")
    api.script(*(tool_use("Bash", {"command": command}) for command in commands), text("I may not."))
    async with server.client() as client, chat(client, "Try it.") as stream:
        await stream.collect()
    assert [result["isError"] for result in stream.of_type("tool_result")] == [True] * 3
    assert len(stream.of_type("permission_denied")) == 3
    assert stream.terminal["type"] == "done"
