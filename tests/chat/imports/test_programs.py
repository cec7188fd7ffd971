"""Conversations of each program become chats with its name and their dates, grow, and go again."""

import json
from typing import Any

import httpx2
import pytest

from .conftest import undone, upload

pytestmark = pytest.mark.long


def gemini(count: int) -> Any:
    """So many activities of one day, the newest first."""
    return [
        {
            "header": "Gemini Apps",
            "title": f"Prompted How old is the gemini yew {n}?",
            "time": f"2026-02-02T07:2{n}:00.000Z",
            "products": ["Gemini Apps"],
            "safeHtmlItem": [{"html": "<p>Very <b>old</b>.</p>"}],
        }
        for n in reversed(range(count))
    ]


def librechat(count: int) -> Any:
    """A conversation in which so many questions follow each other."""
    messages = [
        {
            "messageId": f"{n}",
            "parentMessageId": f"{n - 1}" if n else None,
            "isCreatedByUser": not n % 2,
            "text": f"How old is the librechat yew {n}?",
            "createdAt": f"2026-02-02T07:2{n}:00.000Z",
        }
        for n in range(2 * count)
    ]
    return {"conversationId": "yew", "title": "A librechat yew", "messages": messages}


def lmstudio(count: int) -> Any:
    """A conversation with so many questions and answers."""
    spoken = [
        (
            {"role": "user", "content": [{"type": "text", "text": f"How old is the lmstudio yew {n}?"}]},
            {
                "role": "assistant",
                "steps": [{"type": "contentBlock", "content": [{"type": "text", "text": f"Old, {n}."}]}],
            },
        )
        for n in range(count)
    ]
    messages = [{"versions": [version], "currentlySelected": 0} for pair in spoken for version in pair]
    times = {"createdAt": 1770016800000, "assistantLastMessagedAt": 1770016800000 + count}
    return {"name": "A lmstudio yew", **times, "messages": messages}


@pytest.mark.parametrize("made", [gemini, librechat, lmstudio])
async def test_a_program_comes_grows_and_goes(owner: httpx2.AsyncClient, made: Any) -> None:
    kind = made.__name__

    async def found() -> list[dict[str, Any]]:
        sessions: list[dict[str, Any]] = (await owner.get("/api/chat", params={"search": f"{kind} yew"})).json()[
            "sessions"
        ]
        return sessions

    first = await upload(owner, json.dumps(made(1)).encode(), kind="auto")
    assert (first["kind"], first["imported"], first["errors"]) == (kind, 1, [])
    (session,) = await found()
    assert (session["source"], session["createdAt"][:10], session["messageCount"]) == (kind, "2026-02-02", 2)
    assert (await upload(owner, json.dumps(made(1)).encode(), kind=kind))["skipped"] == 1
    later = await upload(owner, json.dumps(made(2)).encode(), kind=kind)
    assert (later["grown"], later["imported"]) == (1, 0)
    assert [each["messageCount"] for each in await found()] == [4]
    await undone(owner, later["id"])
    assert [each["messageCount"] for each in await found()] == [2]
    await undone(owner, first["id"])
    assert await found() == []
