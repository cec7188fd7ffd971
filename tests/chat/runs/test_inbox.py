"""Agents at work ask through the inbox: whoever looks at it answers, on whatever device."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.chat.runs.answers import session_of
from tests.chat.runs.test_questions import QUESTIONS
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.server import Server
from tests.support.sse import chat

pytestmark = pytest.mark.long


@asynccontextmanager
async def watching(client: httpx2.AsyncClient) -> AsyncIterator[AsyncIterator[list[dict[str, Any]]]]:
    """The lists of a device that follows the inbox."""
    async with client.stream("GET", "/api/inbox/events") as response:

        async def pages() -> AsyncGenerator[list[dict[str, Any]], None]:
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))["items"]

        async with aclosing(pages()) as found:
            yield found


async def until(pages: AsyncIterator[list[dict[str, Any]]], count: int) -> list[dict[str, Any]]:
    """The first list of so many items."""
    async for items in pages:
        if len(items) == count:
            return items
    raise AssertionError("the stream ended")


def answer_to(item: dict[str, Any], word: str, **fields: Any) -> dict[str, Any]:
    return {"id": item["id"], "hash": item["hash"], "answer": word, **fields}


async def test_another_device_allows_what_an_app_cannot_ask_for(make_server: Make[Server], api: MessagesAPI) -> None:
    server = make_server(trust_mode=False)
    file = server.vault / "Projects" / "a.md"
    api.script(tool_use("Write", {"file_path": str(file), "content": "hello"}), text("Allowed."))
    async with server.client() as phone, server.client() as app, watching(phone) as pages:
        assert await until(pages, 0) == []
        async with chat(app, "Write.", trustLevel="direct") as stream:
            (item,) = await until(pages, 1)
            assert (item["kind"], item["may_answer"]) == ("permission", True)
            assert item["details"]["tool"] == "Write"
            said = await phone.post("/api/inbox/answer", json=answer_to(item, "allow"))
            assert said.status_code == 200, said.text
            assert await until(pages, 0) == []
            await stream.collect()
        assert file.read_text() == "hello"
        again = await phone.post("/api/inbox/answer", json=answer_to(item, "deny"))
        assert (again.status_code, again.json()["key"]) == (404, "not_waiting")


async def test_nobody_is_asked_while_nobody_looks(make_server: Make[Server], api: MessagesAPI) -> None:
    server = make_server(trust_mode=False)
    file = Path(server.vault / "Projects" / "a.md")
    api.script(tool_use("Write", {"file_path": str(file), "content": "hello"}), text("Refused."))
    async with server.client() as app, chat(app, "Write.", trustLevel="direct") as stream:
        await stream.collect()
    (denied,) = stream.of_type("permission_denied")
    assert "The owner is not watching the inbox" in denied["reason"]
    assert not file.exists()


async def test_a_question_is_answered_from_the_inbox(server: Server, api: MessagesAPI) -> None:
    api.script(tool_use("AskUserQuestion", {"questions": QUESTIONS}), text("Red it is."))
    values: dict[str, Any] = {"Which colour?": "Red", "Which sizes?": ["Small", "Large"]}
    async with server.client() as client:
        async with chat(client, "Ask me.") as stream:
            await stream.until("user_question")
            listed = await client.get("/api/inbox")
            assert listed.status_code == 200, listed.text
            items = listed.json()["items"]
            (item,) = [each for each in items if each["session_id"] == session_of(stream)]
            assert item["details"] == {"questions": QUESTIONS}
            said = await client.post("/api/inbox/answer", json=answer_to(item, "answer", values=values))
            assert said.status_code == 200, said.text
            await stream.collect()
        (result,) = stream.of_type("tool_result")
        assert json.loads(result["content"]) == {"answers": values}
