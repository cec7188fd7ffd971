"""The events of a run, in the shapes and the order that the app relies on."""

import itertools

import pytest

from tests.chat.runs.answers import answered, ended, transcript_with
from tests.contract.models import check_stream
from tests.support.making import Make
from tests.support.messages_api import (
    MessagesAPI,
    big_text,
    several,
    text,
    thinking,
    tool_use,
)
from tests.support.replies import MEBIBYTE
from tests.support.server import Server
from tests.support.sse import bubble_of, chat

pytestmark = pytest.mark.long


async def test_the_events_come_in_order_and_the_row_is_there_at_the_first(server: Server, api: MessagesAPI) -> None:
    api.script(
        thinking("I look.", then=several(text("Wait.", chunks=2), tool_use("Bash", {"command": "echo hi"}))),
        text("hi!"),
    )
    async with server.client() as client, chat(client, "  \n Say hi \nplease") as stream:
        first = await stream.until("session")
        row = (await client.get(f"/api/chat/{first['sessionId']}")).json()
        assert row["title"] == "Say hi"
        await stream.collect()
    check_stream(stream.events)
    kinds = [event["type"] for event in stream.events]
    unique = [kind for index, kind in enumerate(kinds) if index == 0 or kinds[index - 1] != kind]
    assert unique == [
        "session", "user_message", "prompt_metadata", "session", "init", "model", "thinking", "text", "tool_use",
        "tool_result", "text", "done",
    ]  # fmt: skip
    assert [event["seq"] for event in stream.events] == sorted({event["seq"] for event in stream.events})
    done = ended(stream)
    assert (done["sessionId"], done["title"]) == (first["sessionId"], "Say hi")
    assert isinstance(done["durationMs"], int)
    assert done["model"] == stream.of_type("model")[0]["model"]
    assert done["sessionResume"]["method"] == "new"
    assert [block.kind for block in bubble_of(stream.events)] == ["thinking", "thinking", "tool", "text"]


async def test_two_text_blocks_are_one_text_and_a_tool_between_makes_them_two(server: Server, api: MessagesAPI) -> None:
    api.script(several(text("One.", chunks=2), text("Two.")))
    async with server.client() as client:
        stream = await answered(client)
        assert [block.text for block in bubble_of(stream.events)] == ["One.\n\nTwo."]
        api.script(several(text("Before."), tool_use("Bash", {"command": "true"})), text("After."))
        stream = await answered(client, "Again.", ended(stream)["sessionId"])
    assert [(block.kind, block.text) for block in bubble_of(stream.events)] == [
        ("thinking", "Before."),
        ("tool", ""),
        ("text", "After."),
    ]


async def test_texts_grow_and_never_shrink(server: Server, api: MessagesAPI) -> None:
    said = "".join(f"word{number} " for number in range(400)) + "äöü 🦜 \u2028 end"
    api.script(text(said, chunks=200, delay=0.001))
    async with server.client() as client:
        stream = await answered(client)
    texts = [event["content"] for event in stream.of_type("text")]
    assert texts[-1] == said
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(texts))


async def test_eight_mebibytes_of_text(server: Server, api: MessagesAPI) -> None:
    api.script(big_text().using(output_tokens=10))  # so much text would be over the spending limit
    async with server.client() as client:
        stream = await answered(client)
        assert len(stream.text) == 8 * MEBIBYTE
        session = ended(stream)["sessionId"]
        again = await client.get(f"/api/chat/{session}/events")
        assert len(again.content) > 8 * MEBIBYTE
        await client.delete(f"/api/chat/{session}")


async def test_an_eight_mebibyte_tool_result(make_server: Make[Server], api: MessagesAPI) -> None:
    command = "head -c 8388608 /dev/zero | tr '\\0' x > big.txt; cat big.txt"
    api.script(tool_use("Bash", {"command": command}), text("Long."))
    # The real program says only where the rest of so long a result is.
    async with make_server(real_agents=True).client() as client:
        stream = await answered(client)
    (result,) = stream.of_type("tool_result")
    assert "xxxx" in result["content"]
    assert stream.text == "Long."


async def test_the_results_of_tools_are_in_the_stream_and_in_the_transcript(server: Server, api: MessagesAPI) -> None:
    api.script(tool_use("Read", {"file_path": "/nowhere"}), text("Not there."))
    api.script(tool_use("Bash", {"command": "echo kept"}), text("Done."))
    async with server.client() as client:
        stream = await answered(client)
        (result,) = stream.of_type("tool_result")
        assert result["isError"] is True
        assert "/nowhere" in stream.of_type("tool_use")[0]["tool"]["input"]["file_path"]
        session = ended(stream)["sessionId"]
        await answered(client, "And now?", session)
        assert "kept" in str(await transcript_with(client, session, "Done."))
        assert (await client.get(f"/api/chat/{session}/stream-status")).json() == {"active": False}


async def test_a_path_in_a_message_reads_nothing(server: Server, api: MessagesAPI) -> None:
    api.default(text("No."))
    async with server.client() as client:
        session = "new"
        for message in ("read @/etc/passwd please", "@/etc/hostname", "look at @~/.bashrc"):
            stream = await answered(client, message, session, trustLevel="direct")
            session = ended(stream)["sessionId"]
            sent = str(api.conversation[-1].body["messages"])
            assert message in sent
            assert "root:" not in sent
            assert "tool_use" not in sent
