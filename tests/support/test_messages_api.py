"""The fake Messages API against the real SDK and the real CLI."""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
    StreamEvent,
    TextBlock,
    ThinkingBlock,
    ToolPermissionContext,
)

from .messages_api import (
    Gate,
    MessagesAPI,
    Reply,
    big_text,
    drop_after,
    error,
    hold,
    several,
    silence,
    stream_error,
    text,
    thinking,
    tool_use,
)

pytestmark = pytest.mark.process

QUESTION = {"model": "claude-x", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}


class Conversation:
    """A warm client of the real CLI, and what it said in the last turn."""

    def __init__(self, client: ClaudeSDKClient) -> None:
        self.client = client
        self.messages: list[Any] = []

    async def say(self, message: str) -> ResultMessage:
        """Send a message and collect everything up to the result."""
        await self.client.query(message)
        return await self.result()

    async def result(self) -> ResultMessage:
        """Collect everything up to the result."""
        self.messages = [message async for message in self.client.receive_response()]
        assert isinstance(self.messages[-1], ResultMessage)
        return self.messages[-1]

    def blocks(self, kind: type) -> list[Any]:
        """List the blocks of one type that the assistant sent in the last turn."""
        answers = [message for message in self.messages if isinstance(message, AssistantMessage)]
        return [block for answer in answers for block in answer.content if isinstance(block, kind)]


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the developer's own Claude settings away: the SDK hands its whole environment on."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE")):
            monkeypatch.delenv(name)


@asynccontextmanager
async def conversation(
    api: MessagesAPI, home: Path, environment: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[Conversation]:
    """Connect the real CLI to the fake service, in an empty working directory."""
    folder = home / "work"
    folder.mkdir()
    chosen = {"tools": [], "system_prompt": "You are a test.", "max_buffer_size": 32 * 1024 * 1024, **options}
    configured = ClaudeAgentOptions(
        env={**api.environment(home), **(environment or {})}, cwd=folder, setting_sources=[], **chosen
    )
    async with ClaudeSDKClient(configured) as client:
        yield Conversation(client)


@pytest.mark.long
@pytest.mark.usefixtures("clean_environment")
class TestWithTheRealClient:
    """Each kind of reply as the SDK reads it."""

    async def test_text_thinking_and_partial_messages(self, api: MessagesAPI, tmp_path: Path) -> None:
        api.script(text("Hello from afar", chunks=3), thinking("Let me see.", then=text("Done.")))
        async with conversation(api, tmp_path, include_partial_messages=True) as talk:
            assert (await talk.say("First question")).result == "Hello from afar"
            deltas = [m.event.get("delta", {}).get("text") for m in talk.messages if isinstance(m, StreamEvent)]
            assert [piece for piece in deltas if piece] == ["Hello", " from", " afar"]
            assert (await talk.say("Second question")).result == "Done."
            assert [block.thinking for block in talk.blocks(ThinkingBlock)] == ["Let me see."]
        assert [request.prompt for request in api.conversation] == ["First question", "Second question"]
        assert api.remaining == 0

    async def test_a_tool_runs_after_permission_and_its_result_comes_back(
        self, api: MessagesAPI, tmp_path: Path
    ) -> None:
        asked: list[str] = []

        async def allow(name: str, given: dict[str, Any], context: ToolPermissionContext) -> PermissionResultAllow:
            asked.append(given["command"])
            return PermissionResultAllow()

        command = "echo parachute > note.txt && cat note.txt"
        api.script(several(text("I write it."), tool_use("Bash", {"command": command}, "toolu_1")), text("Written."))
        async with conversation(api, tmp_path, tools=["Bash"], can_use_tool=allow) as talk:
            assert (await talk.say("Write it")).result == "Written."
        assert asked == [command]
        assert (tmp_path / "work" / "note.txt").read_text() == "parachute\n"
        result = api.conversation[-1].tool_results[-1]
        assert (result["tool_use_id"], result["content"]) == ("toolu_1", "parachute")

    @pytest.mark.parametrize(
        ("status", "kind"), [(401, "authentication_error"), (429, "rate_limit_error"), (529, "overloaded_error")]
    )
    async def test_errors(self, api: MessagesAPI, tmp_path: Path, status: int, kind: str) -> None:
        api.default(error(status, kind, "Not now.", {"retry-after": "1"}))
        async with conversation(api, tmp_path) as talk:
            result = await talk.say("Hello")
        assert (result.is_error, result.api_error_status) == (True, status)

    async def test_a_reset_in_the_middle_is_an_error_and_the_client_stays_usable(
        self, api: MessagesAPI, tmp_path: Path
    ) -> None:
        # Left alone, the CLI asks again without streaming and hides the reset.
        fallback = {"CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1"}
        api.script(drop_after(5), text("Back again"))
        async with conversation(api, tmp_path, fallback) as talk:
            assert (await talk.say("Hello")).is_error
            assert (await talk.say("Still there?")).result == "Back again"

    async def test_interrupt_during_silence_closes_the_stream(self, api: MessagesAPI, tmp_path: Path) -> None:
        gate = Gate()
        api.script(several(text("Wait"), hold(gate)), text("Next"))
        async with conversation(api, tmp_path) as talk:
            await talk.client.query("Hello")
            await gate.reached()
            await talk.client.interrupt()
            assert (await talk.result()).subtype == "error_during_execution"
            await api.happens(lambda: api.disconnects == 1, "the client has left")
            assert (await talk.say("Go on")).result == "Next"

    async def test_eight_mebibytes_in_one_block(self, api: MessagesAPI, tmp_path: Path) -> None:
        api.script(big_text())
        async with conversation(api, tmp_path) as talk:
            await talk.say("Tell me everything")
            assert [len(block.text) for block in talk.blocks(TextBlock)] == [8 * 1024 * 1024]

    async def test_helper_requests_of_the_client_use_up_no_reply(self, api: MessagesAPI, tmp_path: Path) -> None:
        api.script(text("First"), text("Second"))
        chatty = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": ""}
        async with conversation(api, tmp_path, chatty) as talk:
            assert (await talk.say("What is a journal good for, in some detail?")).result == "First"
            await api.happens(lambda: any(request.kind == "title" for request in api.requests), "a title is asked for")
            await talk.say("/compact")
            assert (await talk.say("And now?")).result == "Second"
        assert "compaction" in {request.kind for request in api.requests}

    async def test_an_expired_bearer_token(self, api: MessagesAPI, tmp_path: Path) -> None:
        api.require(bearer="sk-ant-oat01-right")
        api.default(text("Welcome"))
        signed_in = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-right"}
        async with conversation(api, tmp_path, signed_in) as talk:
            assert (await talk.say("Hello")).result == "Welcome"
        api.expire_once()
        answers = [ask(api, headers={"authorization": "Bearer sk-ant-oat01-right"}) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [401, 200]
        assert "expired" in answers[0].json()["error"]["message"]


def ask(api: MessagesAPI, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None) -> httpx2.Response:
    """Send a question without the CLI, from sync code."""
    return httpx2.post(f"{api.url}/v1/messages", json=body or QUESTION, headers=headers)


class TestProtocol:
    """The wire itself, for clients other than the CLI."""

    def test_a_whole_message_when_no_stream_is_asked_for(self, api: MessagesAPI) -> None:
        reply = several(text("Hi"), tool_use("Read", {"path": "a"}, "toolu_1"))
        api.script(reply.using(input_tokens=11, output_tokens=7))
        message = ask(api).json()
        assert [block["type"] for block in message["content"]] == ["text", "tool_use"]
        assert (message["stop_reason"], message["usage"]["input_tokens"]) == ("tool_use", 11)
        assert message["usage"]["output_tokens"] == 7

    def test_the_events_of_a_stream(self, api: MessagesAPI) -> None:
        api.script(text("ab", chunks=2))
        answer = ask(api, {**QUESTION, "stream": True})
        events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
        names = [line[7:] for line in answer.text.splitlines() if line.startswith("event: ")]
        assert names == [event["type"] for event in events]
        deltas = ["content_block_delta"] * 2
        begin, end = ["message_start", "ping", "content_block_start"], ["content_block_stop", "message_delta"]
        assert names == [*begin, *deltas, *end, "message_stop"]

    def test_an_error_after_the_stream_began(self, api: MessagesAPI) -> None:
        api.script(stream_error("overloaded_error", "Overloaded", after=text("Half")))
        answer = ask(api, {**QUESTION, "stream": True})
        assert answer.status_code == 200
        assert answer.text.rstrip().endswith('"message": "Overloaded"}}')

    def test_a_reset_is_a_reset(self, api: MessagesAPI) -> None:
        api.script(drop_after(3))
        with pytest.raises((httpx2.ReadError, httpx2.RemoteProtocolError)):
            ask(api, {**QUESTION, "stream": True})

    async def test_leaving_a_silent_stream_is_seen(self, api: MessagesAPI) -> None:
        api.script(silence(3600))
        async with (
            httpx2.AsyncClient() as client,
            client.stream("POST", f"{api.url}/v1/messages", json={**QUESTION, "stream": True}) as answer,
        ):
            assert answer.status_code == 200
        await api.happens(lambda: api.disconnects == 1, "the client has left")

    def test_an_open_gate_lets_the_rest_through(self, api: MessagesAPI) -> None:
        gate = Gate()
        api.script(hold(gate, then=text("Late")))

        def open_when_reached() -> None:
            gate.wait_reached()
            gate.open()

        opener = threading.Thread(target=open_when_reached)
        opener.start()
        assert ask(api).json()["content"] == [{"type": "text", "text": "Late"}]
        opener.join()

    def test_credentials(self, api: MessagesAPI) -> None:
        api.default(text("ok"))
        api.require(api_key="right")
        keys: list[dict[str, str]] = [{"x-api-key": "wrong"}, {"authorization": "Bearer right"}, {}]
        refused = [ask(api, headers=headers) for headers in keys]
        assert [answer.status_code for answer in refused] == [401, 401, 401]
        assert refused[0].json()["error"]["type"] == "authentication_error"
        assert ask(api, headers={"x-api-key": "right"}).status_code == 200

    def test_other_routes(self, api: MessagesAPI) -> None:
        assert httpx2.get(f"{api.url}/v1/models").json()["data"][0]["type"] == "model"
        assert httpx2.post(f"{api.url}/v1/messages/count_tokens", json=QUESTION).json()["input_tokens"] > 0
        assert httpx2.get(f"{api.url}/elsewhere").status_code == 404
        assert httpx2.post(f"{api.url}/v1/messages", content=b"{").status_code == 400

    def test_a_request_that_nobody_scripted_is_refused(self, api: MessagesAPI) -> None:
        assert ask(api).status_code == 400

    def test_a_callable_sees_the_body_and_its_failure_reaches_the_test(self) -> None:
        def broken(body: dict[str, Any]) -> Reply:
            raise LookupError(body["messages"][0]["content"])

        api = MessagesAPI().start()
        api.script(lambda body: text(body["model"]), broken)
        assert ask(api).json()["content"][0]["text"] == "claude-x"
        assert ask(api).status_code == 500
        with pytest.raises(LookupError, match="Hello"):
            api.stop()

    async def test_many_at_once(self, api: MessagesAPI) -> None:
        gate = Gate()
        api.default(hold(gate, then=text("ok")))
        async with httpx2.AsyncClient() as client:
            waiting = [asyncio.ensure_future(client.post(f"{api.url}/v1/messages", json=QUESTION)) for _ in range(8)]
            await api.happens(lambda: len(api.conversation) == 8, "8 requests have come")
            gate.open()
            assert {answer.status_code for answer in await asyncio.gather(*waiting)} == {200}
