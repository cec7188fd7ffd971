"""Helpers of tests of runs: send a message and read its whole answer."""

from typing import Any

import httpx2

from tests.contract.models import check_stream
from tests.support.sse import ChatStream, Event, Parser, chat
from tests.support.waiting import until


async def answered(
    client: httpx2.AsyncClient, message: str = "Hello!", session: str = "new", **fields: Any
) -> ChatStream:
    """Send a message and read its whole answer, which has to fit the contract."""
    async with chat(client, message, session_id=session, **fields) as stream:
        after = await stream.drain()
    assert after == []
    assert not stream.synthetic_done
    stream.assert_clean()
    check_stream(stream.events)
    return stream


def ended(stream: ChatStream) -> Event:
    """The event that ended a stream."""
    return stream.terminal


def session_of(stream: ChatStream) -> str:
    """The session of a stream that has begun."""
    identifier: str = stream.of_type("session")[0]["sessionId"]
    return identifier


async def events_after(client: httpx2.AsyncClient, session: str, after: int = 0) -> list[Event]:
    """All events that a new reader of a run gets, to the end of the stream."""
    response = await client.get(f"/api/chat/{session}/events", params={"after": after})
    assert response.status_code == 200, response.text
    parser = Parser()
    events = [event for line in response.text.split("\n") if (event := parser.event(line))]
    assert not parser.unparsable
    return events


async def transcript_with(client: httpx2.AsyncClient, session: str, last: str) -> list[Event]:
    """The events of a transcript as soon as it has the text `last`: the agent's program may store an answer after giving it."""

    async def stored() -> list[Event] | None:
        answer = await client.get(f"/api/chat/{session}/transcript", params={"full": True, "after_compact": True})
        events: list[Event] = answer.json()["events"] if answer.status_code == 200 else []
        return events if last in str(events) else None

    found: list[Event] = await until(stored, f"the transcript has {last!r}")
    return found
