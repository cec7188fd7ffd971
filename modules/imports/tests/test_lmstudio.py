"""Conversations of LM Studio, as they lie in its folder: messages in versions, of which one is shown."""

import json
from pathlib import Path
from typing import Any

from reading_once import read
from test_growing import Here

from tests.chat.imports.exports import packed

PNG = b"\x89PNG sheet"


def asked(text: str, *files: dict[str, Any]) -> dict[str, Any]:
    """A message of a person."""
    content = [{"type": "text", "text": text}, *({"type": "file", **file} for file in files)]
    return {"versions": [{"type": "singleStep", "role": "user", "content": content}], "currentlySelected": 0}


def answered(*versions: str, shown: int = 0) -> dict[str, Any]:
    """Return an answer in its versions."""

    def version(text: str) -> dict[str, Any]:
        steps = [
            {"type": "contentBlock", "style": {"type": "thinking"}, "content": [{"type": "text", "text": "Hm"}]},
            {"type": "toolStatus", "statusState": {}},
            {
                "type": "contentBlock",
                "stepIdentifier": "1784921390000-0.5",
                "content": [{"type": "text", "text": text}],
            },
            {"type": "debugInfoBlock", "debugInfo": "x"},
        ]
        return {"type": "multiStep", "role": "assistant", "senderInfo": {"senderName": "qwen/qwen3"}, "steps": steps}

    return {"versions": [version(each) for each in versions], "currentlySelected": shown}


def conversation(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a conversation."""
    return {
        "name": "Sheets",
        "pinned": False,
        "createdAt": 1784921389195,
        "systemPrompt": "Be careful.",
        "userLastMessagedAt": 1784921389195,
        "assistantLastMessagedAt": 1784921399195,
        "messages": list(messages),
        **more,
    }


SHEET = {"fileIdentifier": "17849 - 1.png", "fileType": "image", "sizeBytes": 10}
TALK = conversation(asked("What is this?", SHEET), answered("A.", "A sheet.", shown=1))


def test_the_versions_that_are_shown_come(tmp_path: Path) -> None:
    found = read(tmp_path, json.dumps(TALK).encode())
    assert (found.errors, found.kind) == ([], "lmstudio")
    assert found.said["Sheets"] == [("user", "What is this?\n\n[Picture: 17849 - 1.png]"), ("assistant", "A sheet.")]
    assert found.messages[0][1]["model"] == "qwen/qwen3"
    assert found.messages[0][1]["time"] == "2026-07-24T19:29:50.000Z"
    assert (found.conversations[0]["created"], found.conversations[0]["updated"]) == (
        "2026-07-24T19:29:49.195Z",
        "2026-07-24T19:29:59.195Z",
    )
    assert found.left_out == {"hidden_messages": 1, "images": 1, "versions": 1, "thoughts": 1, "tool_calls": 1}


def test_a_folder_with_its_files(tmp_path: Path) -> None:
    other = conversation(asked("Else?"), name=None, createdAt=1784921380000)
    archive = {
        ".lmstudio/conversations/1.conversation.json": json.dumps(TALK),
        ".lmstudio/conversations/Work/2.conversation.json": json.dumps(other),
        ".lmstudio/user-files/17849 - 1.png": PNG,
        ".lmstudio/conversations/conversation-config.json": "{}",
    }
    found = read(tmp_path, packed(archive))
    assert (found.errors, found.kind, sorted(found.said)) == ([], "lmstudio", ["Else?", "Sheets"])
    assert found.attachments[0] == {"17849_-_1.png": PNG}
    assert found.said["Sheets"][0] == ("user", "What is this?")
    assert found.left_out["other_files"] == 1


def test_a_later_copy_adds_what_was_said_since(tmp_path: Path) -> None:
    here = Here(tmp_path)
    here.read(TALK)
    later = conversation(*TALK["messages"], asked("And this?"), assistantLastMessagedAt=1784921499195)
    (grown,) = here.read(later).conversations
    assert (grown["session"], grown["grows"]) == (next(iter(here.brought)), 1)


def test_what_is_broken_is_counted(tmp_path: Path) -> None:
    odd: list[Any] = [{"versions": []}, {"versions": [{"role": "system"}], "currentlySelected": 9}, asked("Hi")]
    odd.append({"versions": [{"role": "user", "content": [{"type": "hologram"}, None, 5]}], "currentlySelected": True})
    found = read(tmp_path, json.dumps(conversation(*odd, createdAt="soon", name=5)).encode())
    assert found.said == {"Hi": [("user", "Hi")]}
    assert found.left_out["malformed"] == 1
    assert found.left_out["unknown_content:hologram"] == 1
