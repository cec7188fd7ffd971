"""The scripted program compared with the real one: the same conversation is the same for an app, for the transcript and the model."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from tests.chat.runs.answers import answered, session_of, transcript_with
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text, thinking, tool_use
from tests.support.server import Server
from tests.support.sse import ChatStream, chat

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

_QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}],
}
_PROJECT = {"workingDirectory": "Projects/boat"}
_FIELDS = ("type", "content", "tool", "isError", "questions", "tools", "model", "code", "toolUseId", "title")
"""Fields of events; the others are times, identifiers and counts."""

Play = Callable[[httpx2.AsyncClient, MessagesAPI, Server], Awaitable[ChatStream]]


async def tools(client: httpx2.AsyncClient, model: MessagesAPI, server: Server) -> ChatStream:
    """A file that is written, read and changed, commands that succeed and fail, and tools that are refused or unknown."""
    note = "/vault/Projects/boat/note.md"
    calls = [
        ("Write", {"file_path": note, "content": "One.\nTwo.\n"}),
        ("Read", {"file_path": note}),
        ("Edit", {"file_path": note, "old_string": "One.", "new_string": "Three."}),
        ("Read", {"file_path": "/vault/Projects/boat/none.md"}),
        ("Bash", {"command": "cat note.md"}),
        ("Bash", {"command": "true"}),
        ("Bash", {"command": "echo away; exit 3"}),
        ("Bash", {"command": "sudo true"}),
        ("mcp__parachute__nothing", {}),
    ]
    (server.vault / _PROJECT["workingDirectory"]).mkdir(parents=True)
    model.script(*(tool_use(name, arguments, f"call{at}") for at, (name, arguments) in enumerate(calls)), text("Done."))
    return await answered(client, **_PROJECT)


async def thoughts(client: httpx2.AsyncClient, model: MessagesAPI, server: Server) -> ChatStream:
    """A thought, texts on both sides of a call, and a session that goes on."""
    model.script(
        thinking("Hm.", several(text("Before."), tool_use("Bash", {"command": "echo up"}, "call"))),
        text("After.", chunks=2),
        text("Again."),
    )
    first = await answered(client, "First.")
    return await answered(client, "Second.", session_of(first))


async def question(client: httpx2.AsyncClient, model: MessagesAPI, server: Server) -> ChatStream:
    """A question that the person answers."""
    model.script(tool_use("AskUserQuestion", {"questions": [_QUESTION]}, "call"), text("Red it is."))
    async with chat(client, "Ask me.") as stream:
        asked = await stream.until("user_question")
        body = {"request_id": asked["requestId"], "answers": {"Which colour?": "Red"}}
        path = f"/api/chat/{asked['sessionId']}/answer"
        assert (await client.post(path, json=body)).status_code == 200
        await stream.collect()
    return stream


async def interruption(client: httpx2.AsyncClient, model: MessagesAPI, server: Server) -> ChatStream:
    """An answer that is stopped in the middle, and the next one."""
    gate = Gate()
    model.script(several(text("Half an ", chunks=1), hold(gate, text("answer."))), text("Here again."))
    async with chat(client, "First.") as stream:
        await stream.until("text")
        session = session_of(stream)
        assert (await client.post(f"/api/chat/{session}/abort")).status_code == 200
        await stream.collect()
    gate.open()
    return await answered(client, "Second.", session)


@pytest.mark.parametrize("play", [tools, thoughts, question, interruption])
async def test_both_are_the_same(play: Play) -> None:
    scripted, real = [await _played(play, real_agents=each) for each in (False, True)]
    for part in ("events", "transcript", "messages", "result"):
        assert scripted[part] == real[part], part


async def _played(play: Play, *, real_agents: bool) -> dict[str, Any]:
    with MessagesAPI() as model, Server(environment=model.credentials, real_agents=real_agents) as server:
        async with server.client() as client:
            stream = await play(client, model, server)
            session = session_of(stream)
            transcript = await transcript_with(client, session, stream.text.split(".")[-2])
    return {
        "events": [_shown(event) for event in stream.events],
        "transcript": [_content_of(event["message"]) for event in transcript],
        # The programs' own reminders differ.
        "messages": [_content_of(each) for each in model.conversation[-1].body["messages"] if each["role"] != "system"],
        "result": sorted(stream.terminal),
    }


def _shown(event: dict[str, Any]) -> dict[str, Any]:
    return {name: event[name] for name in _FIELDS if name in event}


def _content_of(message: dict[str, Any]) -> Any:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [message["role"], [{name: block[name] for name in block if name != "cache_control"} for block in blocks]]
