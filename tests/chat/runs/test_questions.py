"""Questions of the agent to the person."""

import json
from typing import Any

import pytest

from tests.chat.runs.answers import answered, ended, events_after, session_of, transcript_with
from tests.contract.models import check_stream
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server
from tests.support.sse import bubble_of, chat

pytestmark = pytest.mark.long

QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}],
    },
    {
        "question": "Which sizes?",
        "header": "Size",
        "multiSelect": True,
        "options": [{"label": "Small", "description": "S"}, {"label": "Large", "description": "L"}],
    },
]


@pytest.mark.parametrize("level", ["sandboxed", pytest.param("direct", marks=pytest.mark.long)])
async def test_a_question_is_answered(server: Server, api: MessagesAPI, level: str) -> None:
    api.script(tool_use("AskUserQuestion", {"questions": QUESTIONS}), text("Red it is."))
    answers: dict[str, Any] = {"Which colour?": "Red", "Which sizes?": ["Small", "Large"]}
    async with server.client() as client:
        async with chat(client, "Ask me.", trustLevel=level) as stream:
            question = await stream.until("user_question")
            session = session_of(stream)
            assert question["questions"] == QUESTIONS
            assert question["sessionId"] == session
            cards = [event["tool"]["name"] for event in stream.of_type("tool_use")]
            assert cards == ["AskUserQuestion"]
            pending = (await client.get(f"/api/chat/{session}/pending-questions")).json()["pending"]
            assert pending == [{"request_id": question["requestId"], "questions": QUESTIONS}]
            body = {"request_id": question["requestId"], "answers": answers}
            wrong = await client.post(f"/api/chat/{session}/answer", json={**body, "request_id": "another"})
            assert wrong.status_code == 404
            assert (await client.post(f"/api/chat/{session}/answer", json=body)).status_code == 200
            assert (await client.post(f"/api/chat/{session}/answer", json=body)).status_code == 404
            await stream.collect()
        check_stream(stream.events)
        (result,) = stream.of_type("tool_result")
        assert json.loads(result["content"]) == {"answers": answers}
        assert [block.kind for block in bubble_of(stream.events)] == ["question", "text"]
        assert (await client.get(f"/api/chat/{session}/pending-questions")).json() == {"pending": []}
        events = await transcript_with(client, session, "Red it is.")
    blocks = [
        block
        for event in events
        if isinstance(event["message"]["content"], list)
        for block in event["message"]["content"]
    ]
    (stored,) = [block for block in blocks if block["type"] == "tool_result"]
    assert json.loads(stored["content"])["answers"]["Which colour?"] == "Red"
    # The model was told, too.
    assert "Red" in str(api.conversation[-1].tool_results)


async def test_stopping_while_a_question_waits(server: Server, api: MessagesAPI) -> None:
    api.script(tool_use("AskUserQuestion", {"questions": QUESTIONS[:1]}), text("Again."))
    async with server.client() as client:
        async with chat(client, "Ask me.") as stream:
            await stream.until("user_question")
            session = session_of(stream)
            assert (await client.post(f"/api/chat/{session}/abort")).status_code == 200
            await stream.collect()
        assert ended(stream)["type"] == "aborted"
        assert (await client.get(f"/api/chat/{session}/pending-questions")).json() == {"pending": []}
        stream = await answered(client, "Go on.", session)
        assert stream.text == "Again."


async def test_a_question_survives_a_reader_that_leaves(server: Server, api: MessagesAPI) -> None:
    api.script(tool_use("AskUserQuestion", {"questions": QUESTIONS[:1]}), text("Thanks."))
    async with server.client() as client:
        async with chat(client, "Ask me.") as stream:
            await stream.until("session")
            session = session_of(stream)

        pending: list[dict[str, Any]] = []
        while not pending:
            pending = (await client.get(f"/api/chat/{session}/pending-questions")).json()["pending"]
        body = {"request_id": pending[0]["request_id"], "answers": {"Which colour?": "Blue"}}
        assert (await client.post(f"/api/chat/{session}/answer", json=body)).status_code == 200
        assert (await events_after(client, session))[-1]["type"] == "done"
        assert "Blue" in str(api.conversation[-1].tool_results)
