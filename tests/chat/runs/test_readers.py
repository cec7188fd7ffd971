"""Readers come and go; the run goes on."""

import asyncio

import pytest

from tests.chat.runs.answers import events_after, session_of
from tests.contract.models import check_stream
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text, tool_use
from tests.support.server import Server
from tests.support.sse import chat, text_of

pytestmark = pytest.mark.long

WORDS = "".join(f"word{number} " for number in range(300))


async def test_the_run_goes_on_without_a_reader(server: Server, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(several(text("Before "), hold(gate, tool_use("Bash", {"command": "echo on"}))), text("Complete."))
    async with server.client() as client:
        async with chat(client, "Begin.") as stream:
            await stream.until("text")
            session, seen = session_of(stream), stream.events[-1]["seq"]
        assert (await client.get(f"/api/chat/{session}/stream-status")).json() == {"active": True}
        gate.open()
        rest = await events_after(client, session, seen)
        assert text_of([*stream.events, *rest]) == "Complete."
        check_stream([*stream.events, *rest])
        assert [event["seq"] for event in rest] == sorted({event["seq"] for event in rest} - {seen})


async def test_attaching_again_loses_and_repeats_nothing(server: Server, api: MessagesAPI) -> None:
    """At any place: what was seen before and what comes after are together what a single reader sees."""
    api.script(
        several(text(WORDS, chunks=100, delay=0.002), tool_use("Bash", {"command": "echo on"})), text("End.", chunks=2)
    )
    async with server.client() as client:
        async with chat(client, "Begin.") as stream:
            attached: list[asyncio.Task[list[dict[str, object]]]] = []
            async for event in stream:
                session = session_of(stream)
                if event["seq"] % 3 == 0 or event["type"] != "text":
                    attached.append(asyncio.create_task(events_after(client, session, event["seq"])))
            whole = stream.events
            results = await asyncio.gather(*attached)
        afterwards = await events_after(client, session)
        assert text_of(afterwards) == text_of(whole) == "End."
        assert next(event["content"] for event in afterwards if event["type"] == "text") == WORDS
        for rest in results:
            if not rest:
                continue
            first = int(str(rest[0]["seq"]))
            before = [event for event in whole if event["seq"] < first]
            joined = [*before, *rest]
            assert text_of(joined) == "End."
            check_stream(joined)
            others = [event for event in joined if event["type"] != "text"]
            assert others == [event for event in whole if event["type"] != "text"]
        assert await events_after(client, session, whole[-1]["seq"]) == []


async def test_two_readers_see_the_same(server: Server, api: MessagesAPI) -> None:
    gate = Gate()
    api.script(several(text("One. "), hold(gate, text("Two."))))
    async with server.client() as client:
        async with chat(client, "Begin.") as stream:
            await stream.until("text")
            second = asyncio.create_task(events_after(client, session_of(stream)))
            gate.open()
            await stream.collect()
        assert text_of(await second) == stream.text
        assert (await second)[-1] == stream.events[-1]


async def test_a_run_that_nobody_had_cannot_be_followed(server: Server, api: MessagesAPI) -> None:
    async with server.client() as client:
        missing = "00000000-0000-4000-8000-000000000000"
        assert (await client.get(f"/api/chat/{missing}/events")).status_code == 404
        assert (await client.get(f"/api/chat/{missing}/events?after=-1")).status_code == 422
