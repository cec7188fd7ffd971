"""What most tests of runs do: send a message and read its whole answer."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2

from tests.contract.models import check_stream
from tests.support.sse import ChatStream, Event, Parser, chat


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
    assert stream.terminal is not None
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
    async with asyncio.timeout(60):
        while True:
            answer = await client.get(f"/api/chat/{session}/transcript", params={"full": True, "after_compact": True})
            if answer.status_code == 200 and last in str(events := answer.json()["events"]):
                found: list[Event] = events
                return found
            await asyncio.sleep(0.02)


async def eventually(condition: Callable[[], Any], what: str, seconds: float = 60) -> Any:
    """Wait for a condition that no event announces, without blocking the loop; its value."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not (value := condition()):
        assert asyncio.get_running_loop().time() < deadline, f"waited {seconds} s until {what}"
        await asyncio.sleep(0.02)
    return value
