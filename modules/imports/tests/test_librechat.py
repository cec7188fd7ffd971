"""Conversations of LibreChat, in a list or each message in the one before it, as deep as the conversation is long."""

import json
from pathlib import Path
from typing import Any

import pytest
from reading_once import read
from test_growing import Here

from tests.chat.imports.exports import packed

ROOT = "00000000-0000-0000-0000-000000000000"


def message(name: str, parent: str | None, text: str, minute: int = 0, **more: Any) -> dict[str, Any]:
    """One message; those with an even minute are a person's."""
    return {
        "messageId": name,
        "parentMessageId": parent or ROOT,
        "conversationId": "c",
        "text": text,
        "sender": "GPT" if minute % 2 else "User",
        "isCreatedByUser": not minute % 2,
        "model": "gpt-4o" if minute % 2 else None,
        "createdAt": f"2026-05-01T10:{minute:02}:00.000Z",
        **more,
    }


def exported(messages: list[dict[str, Any]], *, name: str = "messages", **more: Any) -> dict[str, Any]:
    """Return an export of one conversation."""
    head = {"conversationId": "c", "endpoint": "openAI", "title": "Varnish", "exportAt": "10:00", "branches": True}
    return {**head, "recursive": name != "messages", name: messages, **more}


ASKED, ANSWERED = message("a", None, "How long?", 0), message("b", "a", "A day.", 1)
AGAIN = message(
    "c", "a", "", 3, content=[{"type": "think", "think": "Hm"}, {"type": "text", "text": {"value": "A week."}}]
)


def nested(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each message in the one before it."""
    found = {each["messageId"]: {**each, "children": []} for each in messages}
    for each in found.values():
        if each["parentMessageId"] in found:
            found[each["parentMessageId"]]["children"].append(each)
    return [each for each in found.values() if each["parentMessageId"] not in found]


def test_what_was_answered_last_is_the_conversation_and_the_other_a_branch(tmp_path: Path) -> None:
    whole = [ASKED, ANSWERED, AGAIN]
    for value in (exported(whole), exported(nested(whole)), exported(nested(whole), name="messagesTree")):
        for kind in ("auto", "librechat"):
            found = read(tmp_path, json.dumps(value).encode(), kind)
            assert found.errors == []
            assert found.said == {
                "Varnish": [("user", "How long?"), ("assistant", "A week.")],
                "Varnish (branch 2)": [("user", "How long?"), ("assistant", "A day.")],
            }
            assert found.conversations[0]["created"] == "2026-05-01T10:00:00.000Z"
            assert found.messages[0][1]["model"] == "gpt-4o"
            assert found.left_out == {"thoughts": 1}


def test_files_and_calls_are_counted(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "Here."}, {"type": "tool_call", "tool_call": {}}, {"type": "hologram"}]
    files = [{"filename": "pond.png", "type": "image/png"}, {"filename": "a.pdf", "type": "application/pdf"}]
    value = exported([message("a", None, "See.", files=files), message("b", "a", "", 1, content=content)])
    found = read(tmp_path, json.dumps(value).encode())
    assert found.said["Varnish"] == [("user", "See.\n\n[Picture: pond.png]"), ("assistant", "Here.")]
    assert found.left_out == {"images": 1, "files": 1, "tool_calls": 1, "unknown_content:hologram": 1}


def test_a_folder_of_them(tmp_path: Path) -> None:
    other = {**exported([message("x", None, "Else?")]), "conversationId": "d", "title": "Else"}
    archive = packed({"chats/Varnish.json": json.dumps(exported([ASKED])), "chats/Else.json": json.dumps(other)})
    assert sorted(read(tmp_path, archive, "librechat").said) == ["Else", "Varnish"]


def test_a_later_export_adds_what_was_said_since(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.read(exported([ASKED, ANSWERED]))
    (grown,) = here.read(exported([ASKED, ANSWERED, message("d", "b", "And in winter?", 4)])).conversations
    assert (grown["session"], grown["grows"]) == (next(iter(here.brought)), 1)


def deep(count: int, inner: str = '"text":"?"') -> bytes:
    """Return a conversation of so many messages, each in the one before it."""
    head = "".join(
        f'{{"messageId":"{n}","parentMessageId":"{n - 1}","isCreatedByUser":true,{inner},"children":['
        for n in range(count)
    )
    return ('{"conversationId":"c","title":"Deep","messagesTree":[' + head + "]}" * count + "]}").encode()


@pytest.mark.long
def test_a_conversation_is_as_deep_as_it_is_long(tmp_path: Path) -> None:
    found = read(tmp_path, deep(20_000))
    assert (found.errors, len(found.said["Deep"])) == ([], 20_000)


@pytest.mark.long
def test_what_is_too_large_or_too_deep_is_refused_and_does_no_harm(tmp_path: Path) -> None:
    large = deep(300, '"text":"' + "x" * 200_000 + '"')
    arrays = b'{"conversationId":"c","messages":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"
    children = b'{"conversationId":"c","messages":[' + b'{"children":[' * 400_000 + b"]}" * 400_000 + b"]}"
    for data in (large, arrays, children):
        found = read(tmp_path, data)
        assert (len(found.conversations), len(found.errors)) == (0, 1)
    member = exported([{**ASKED, "content": json.loads("[" * 500 + "]" * 500)}])
    assert read(tmp_path, json.dumps(member).encode()).said["Varnish"] == [("user", "How long?")]
    for broken in (deep(5)[:-3], b'{"conversationId":"c","messages":[{"children":['):
        assert read(tmp_path, broken).errors
    loop = exported([{**ASKED, "parentMessageId": "b"}, ANSWERED])
    assert len(read(tmp_path, json.dumps(loop).encode()).messages[0]) == 2
