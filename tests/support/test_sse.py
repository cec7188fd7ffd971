"""The reader of the chat stream, over real connections that send exact bytes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from .sse import Event, LineSplitter, bubble_of, chat, text_of

pytestmark = pytest.mark.process


def line(kind: str, **fields: Any) -> bytes:
    """Render one event as a correct server sends it."""
    return b"data: " + json.dumps({"type": kind, **fields}, ensure_ascii=False).encode() + b"\n\n"


@asynccontextmanager
async def serving(*pieces: bytes, status: str = "200 OK") -> AsyncIterator[httpx2.AsyncClient]:
    """Serve the pieces as the body of any request, each in its own chunk."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        header = (await reader.readuntil(b"\r\n\r\n")).lower()
        # Closed with input that nobody has read, a connection is reset.
        await reader.readexactly(int(header.partition(b"content-length: ")[2].split(b"\r\n")[0]))
        writer.write(
            f"HTTP/1.1 {status}\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        )
        for piece in pieces:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        yield client


async def test_events_are_read_up_to_the_first_terminal_one() -> None:
    body = line("session", sessionId="a") + b": ping\n\n" + line("text", content="Hi") + line("done")
    async with serving(body, line("text", content="too late")) as client, chat(client, "Hello") as stream:
        assert [event["type"] for event in await stream.collect()] == ["session", "text", "done"]
        assert (stream.text, stream.synthetic_done) == ("Hi", False)
        assert [event["content"] for event in await stream.drain()] == ["too late"]
        assert ": ping" in stream.raw_lines
        stream.assert_clean()


async def test_a_body_that_just_ends_is_a_made_up_done() -> None:
    async with serving(line("text", content="Hi")) as client, chat(client, "Hello") as stream:
        assert (await stream.collect())[-1] == {"type": "done"}
        assert stream.synthetic_done
        assert await stream.drain() == []


@pytest.mark.parametrize(
    "bad", [b"event: text\n", b"id: 1\n", b'data:{"type":"text"}\n', b"data: nonsense\n", b"data: []\n"]
)
async def test_lines_that_the_app_ignores_are_reported(bad: bytes) -> None:
    async with serving(bad + line("done")) as client, chat(client, "Hello") as stream:
        assert await stream.collect() == [{"type": "done"}]
        with pytest.raises(AssertionError, match="cannot parse"):
            stream.assert_clean()


async def test_done_marker_and_empty_data_lines() -> None:
    async with serving(b"data: \n\ndata: [DONE]\n\n") as client, chat(client, "Hello") as stream:
        assert await stream.collect() == [{"type": "done"}]
        assert not stream.synthetic_done
        stream.assert_clean()


async def test_characters_and_line_ends_that_chunks_cut_in_two() -> None:
    content = "Grüße\u2028aus\x85Zürich"
    whole = line("text", content=content).replace(b"\n\n", b"\r\n\r\n") + line("done")
    async with serving(*(whole[i : i + 1] for i in range(len(whole)))) as client, chat(client, "Hello") as stream:
        await stream.collect()
        assert stream.text == content
        stream.assert_clean()


async def test_until_and_a_refused_request() -> None:
    async with serving(line("model", model="m"), line("aborted")) as client, chat(client, "Hello") as stream:
        assert (await stream.until("model"))["model"] == "m"
        with pytest.raises(AssertionError, match="before any 'text'"):
            await stream.until("text")
    async with serving(b"busy", status="409 Conflict") as client:
        with pytest.raises(AssertionError, match="409: busy"):
            async with chat(client, "Hello"):
                pass


def test_lone_carriage_returns_end_lines_too() -> None:
    splitter = LineSplitter()
    assert splitter.feed("a\r") + splitter.feed("\nb\rc") + splitter.finish() == ["a", "b", "c"]


def test_text_replaces_the_last_text_also_across_thinking() -> None:
    events: list[Event] = [
        {"type": "text", "content": "One"},
        {"type": "thinking", "content": "Hm"},
        {"type": "text", "content": "One two"},
    ]
    assert [(block.kind, block.text) for block in bubble_of(events)] == [("text", "One two"), ("thinking", "Hm")]


def test_a_tool_turns_the_text_before_it_into_thinking() -> None:
    events: list[Event] = [
        {"type": "text", "content": "I look."},
        {"type": "tool_use", "tool": {"id": "t1", "name": "Read", "input": {}}},
        {"type": "tool_result", "toolUseId": "t1", "content": "found", "isError": False},
        {"type": "tool_result", "toolUseId": None, "content": "lost"},
        {"type": "text", "content": "Here"},
        {"type": "text", "content": "Here it is."},
    ]
    blocks = bubble_of(events)
    assert [block.kind for block in blocks] == ["thinking", "tool", "text"]
    assert blocks[1].result == "found"
    assert text_of(events) == "Here it is."


def test_a_question_needs_its_tool_call_first() -> None:
    question = {"type": "user_question", "requestId": "r", "sessionId": "s", "questions": []}
    call = {"type": "tool_use", "tool": {"id": "t1", "name": "AskUserQuestion", "input": {}}}
    assert [block.kind for block in bubble_of([call, question])] == ["question"]
    assert [block.kind for block in bubble_of([question, call])] == ["tool"]
