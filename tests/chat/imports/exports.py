"""Exports with the shapes that ChatGPT, Claude, an older Parachute and Obsidian write them in, made by code."""

import io
import json
import sqlite3
import uuid
import zipfile
from pathlib import Path
from typing import Any

Content = str | bytes

_DAY = 1_700_000_000


def node(
    name: str,
    parent: str | None,
    role: str = "user",
    text: str | None = None,
    *,
    kind: str = "text",
    parts: list[Any] | None = None,
    time: Any = None,
    **message: Any,
) -> dict[str, Any]:
    """One node of a tree of ChatGPT."""
    content = {"content_type": kind, "parts": parts if parts is not None else [text]}
    said = {
        "id": name,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": time,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": None,
        "weight": 1.0,
        "metadata": {"model_slug": "gpt-4o"} if role == "assistant" else {},
        "recipient": "all",
        **message,
    }
    return {
        "id": name,
        "message": said if text is not None or parts is not None else None,
        "parent": parent,
        "children": [],
    }


def tree(
    *nodes: dict[str, Any], title: Any = "A boat", current: Any = None, name: str = "c-1", **more: Any
) -> dict[str, Any]:
    """A conversation of ChatGPT."""
    mapping = {each["id"]: each for each in nodes}
    for each in nodes:
        if each["parent"] in mapping:
            mapping[each["parent"]]["children"].append(each["id"])
    return {
        "title": title,
        "create_time": _DAY + 0.25,
        "update_time": _DAY + 3600,
        "mapping": mapping,
        "moderation_results": [],
        "current_node": current or nodes[-1]["id"],
        "plugin_ids": None,
        "conversation_id": name,
        "id": name,
        "default_model_slug": "gpt-4o",
        "is_archived": False,
        **more,
    }


def boat(name: str = "c-1") -> dict[str, Any]:
    """A conversation of ChatGPT about a boat, with a picture, a tool, hidden instructions and an answer that was asked for again."""
    picture = {
        "content_type": "image_asset_pointer",
        "asset_pointer": "file-service://file-1",
        "width": 10,
        "height": 10,
    }
    return tree(
        node("root", None),
        node("system", "root", "system", ""),
        node("about", "system", "user", kind="user_editable_context", parts=[]),
        node(
            "ask", "about", "user", kind="multimodal_text", parts=[picture, "My boat is called Ottilie."], time=_DAY + 1
        ),
        node("look", "ask", "assistant", "search('boats')", kind="code", recipient="browser", time=_DAY + 2),
        node("found", "look", "tool", "a page", time=_DAY + 3),
        node("old", "ask", "assistant", "What a strange name.", time=_DAY + 4),
        node("new", "found", "assistant", "A fine name for a ketch.", time=_DAY + 5),
        node("thanks", "new", "user", "Thank you.", time=_DAY + 6),
        node("end", "thanks", "assistant", "You are welcome.", time=_DAY + 7),
        name=name,
    )


def claude_message(number: int, sender: str, text: str, **more: Any) -> dict[str, Any]:
    """One message of Claude's export."""
    time = f"2024-03-01T10:00:{number:02}.123456Z"
    content = [{"start_timestamp": time, "stop_timestamp": time, "type": "text", "text": text, "citations": []}]
    message = {"uuid": str(uuid.UUID(int=number)), "text": text, "content": content, "sender": sender}
    return {**message, "created_at": time, "updated_at": time, "attachments": [], "files": [], **more}


def claude_conversation(name: str = "cl-1", **more: Any) -> dict[str, Any]:
    """A conversation of Claude with an attachment whose text is there, a picture whose is not, and a call of a tool."""
    attached = {
        "file_name": "kettle.txt",
        "file_size": 9,
        "file_type": "txt",
        "extracted_content": "It whistles in F sharp.",
    }
    answer = claude_message(2, "assistant", "Then it is a good kettle.")
    answer["content"].insert(0, {"type": "tool_use", "name": "artifacts", "input": {}})
    return {
        "uuid": name,
        "name": "Kettles",
        "summary": "",
        "created_at": "2024-03-01T09:59:59.000000Z",
        "updated_at": "2024-03-01T10:00:02.123456Z",
        "account": {"uuid": "a"},
        "chat_messages": [
            claude_message(1, "human", "What is this?", attachments=[attached], files=[{"file_name": "photo.png"}]),
            answer,
        ],
        **more,
    }


PROJECT = {
    "uuid": "p-1",
    "name": "Tea / coffee",
    "description": "",
    "is_private": True,
    "prompt_template": "Answer as a kettle.",
    "created_at": "2024-03-01T09:00:00.000000+00:00",
    "updated_at": "2024-03-01T09:00:00.000000+00:00",
    "docs": [
        {
            "uuid": "d-1",
            "filename": "leaves.md",
            "content": "Green, black.",
            "created_at": "2024-03-01T09:00:00.000000+00:00",
        },
        {"uuid": "d-2", "filename": "AGENTS.md", "content": "Obey.", "created_at": "2024-03-01T09:00:00.000000+00:00"},
    ],
}


def packed(files: dict[str, Content]) -> bytes:
    """A ZIP archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2023, 5, 6, 7, 8, 10)), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def chatgpt_zip(*conversations: dict[str, Any]) -> bytes:
    """An export of ChatGPT in two parts, as the newer ones are."""
    first, rest = list(conversations[:1]), list(conversations[1:])
    return packed(
        {
            "chat.html": "<html>",
            "conversations-000.json": json.dumps(first),
            "conversations-001.json": json.dumps(rest),
            "message_feedback.json": "[]",
            "user.json": "{}",
        }
    )


def claude_zip(*conversations: dict[str, Any]) -> bytes:
    """An export of Claude."""
    files = {"conversations.json": conversations, "projects.json": [PROJECT], "users.json": [{"uuid": "a"}]}
    return packed({name: json.dumps(content) for name, content in files.items()})


SESSION = "0d6a3f0e-6c1d-4a35-9d5c-0f0c8a1b2c3d"
KEPT = "1d6a3f0e-6c1d-4a35-9d5c-0f0c8a1b2c3d"


def old_database(path: Path) -> None:
    """The database of an older Parachute, of its version 16."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.executescript(
            """CREATE TABLE sessions (
                id TEXT PRIMARY KEY, title TEXT, module TEXT NOT NULL DEFAULT 'chat', source TEXT NOT NULL DEFAULT 'parachute',
                working_directory TEXT, vault_root TEXT, model TEXT, message_count INTEGER DEFAULT 0, archived INTEGER DEFAULT 0,
                created_at TEXT NOT NULL, last_accessed TEXT NOT NULL, continued_from TEXT, agent_type TEXT, metadata TEXT,
                trust_level TEXT DEFAULT 'full', linked_bot_platform TEXT, workspace_id TEXT);
            CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL);"""
        )
        row = "INSERT INTO sessions (id, title, message_count, created_at, last_accessed, trust_level, working_directory) VALUES (?, ?, ?, ?, ?, ?, ?)"
        times = ("2026-01-02T03:04:05.123456+00:00", "2026-01-03T03:04:05.123456+00:00")
        database.execute(row, (SESSION, "Sails", 2, *times, "full", "/vault/Projects/boat"))
        database.execute(row, (KEPT, "Ropes", 4, *times, "a word of tomorrow", None))
    database.close()


def old_transcript() -> str:
    """A transcript of the agent's program."""
    time = "2026-01-02T03:04:05.000Z"
    lines = [
        {"type": "summary", "summary": "Sails"},
        {
            "type": "user",
            "uuid": "u",
            "timestamp": time,
            "message": {"role": "user", "content": "How many sails has a ketch?"},
        },
        {
            "type": "assistant",
            "uuid": "a",
            "timestamp": time,
            "message": {
                "role": "assistant",
                "model": "claude-sonnet",
                "content": [
                    {"type": "tool_use", "id": "t", "name": "Read", "input": {}},
                    {"type": "text", "text": "Often three."},
                ],
            },
        },
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


MARKDOWN = """---
session_id: "2d6a3f0e-6c1d-4a35-9d5c-0f0c8a1b2c3d"
title: "Tides: a question"
created_at: "2025-12-07T04:39:47.485Z"
last_accessed: "2025-12-08T04:39:47.485Z"
archived: true
---

# Tides

## Conversation

### User | 2025-12-07T04:39:47.485Z

When is high water?

### Assistant | 2025-12-07T04:40:00Z

At noon.

### Not a speaker
"""


def old_vault(folder: Path) -> bytes:
    """An older Parachute's database, one transcript, and a conversation in Markdown."""
    old_database(folder / "old.db")
    return packed(
        {
            "Chat/sessions.db": (folder / "old.db").read_bytes(),
            f".claude/projects/-vault-Projects-boat/{SESSION}.jsonl": old_transcript(),
            "Chat/sessions/2025-12-07-tides.md": MARKDOWN,
            "Chat/sessions/README.md": "What this folder is.",
        }
    )


def notes_zip() -> bytes:
    """A folder of Obsidian."""
    return packed(
        {
            "Thoughts/.obsidian/app.json": "{}",
            "Thoughts/.obsidian/plugins/evil/main.js": "steal()",
            "Thoughts/Boats/Ottilie.md": "A ketch. See [[Kettle]] and ![[ketch.png]].",
            "Thoughts/Boats/ketch.png": b"\x89PNG",
            "Thoughts/2024-05-06.md": "A day.",
            "Thoughts/CLAUDE.md": "Obey.",
        }
    )
