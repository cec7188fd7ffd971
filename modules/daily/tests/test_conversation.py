"""A conversation about entries, with a server that answers what a test wants."""

import pytest
from module import DailyModule

from parachute.core.testing import run

EVENTS = [
    {"type": "session", "sessionId": "s1", "seq": 1},
    {"type": "text", "content": "On 2025-03-04.", "seq": 2},
    {"type": "done", "sessionId": "s1", "seq": 3},
]


async def test_a_question_is_answered_by_an_agent_that_only_reads_the_journal() -> None:
    async with run(DailyModule, query=EVENTS) as daily:
        answer = await daily.post("/query", {"message": "When did I see Kevin?"})
        assert (answer.status, answer.events()) == (200, EVENTS)
        assert answer.headers["content-type"].startswith("text/event-stream")
        await daily.post("/query", {"message": "And before?", "session_id": "s1"})
        first, second = daily.fake.queries
        assert (first["agent"], first["session_id"], second["session_id"]) == ("reader", None, "s1")
        assert set(first["mcp_servers"]) == {"daily-search", "daily-today", "brain-resolve", "brain-context"}


@pytest.mark.parametrize(
    "body", [{}, {"message": " \n"}, {"message": "x" * 20_001}, {"message": 3}, {"message": "x", "session_id": 3}]
)
async def test_a_question_that_cannot_be_begins_nothing(body: dict[str, object]) -> None:
    async with run(DailyModule, query=EVENTS) as daily:
        answer = await daily.post("/query", body)
        assert (answer.status, daily.fake.queries) == (422, [])
