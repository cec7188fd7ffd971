"""Conversations of Open WebUI: the branch that was shown last, the others, and what the program folds away."""

import json
from pathlib import Path
from typing import Any

from reading_once import read


def message(name: str, parent: str | None, role: str, content: str, **more: Any) -> dict[str, Any]:
    """One message."""
    return {"id": name, "parentId": parent, "childrenIds": [], "role": role, "content": content, **more}


def chat(*messages: dict[str, Any], current: str | None = None) -> dict[str, Any]:
    """One conversation."""
    history = {"messages": {each["id"]: each for each in messages}, "currentId": current or messages[-1]["id"]}
    inner = {"title": "Boats", "models": ["llama3"], "history": history}
    return {"id": "9", "title": "Boats", "chat": inner, "created_at": 1_780_000_000, "updated_at": 1_780_000_100}


def test_what_was_said_comes_with_its_branches(tmp_path: Path) -> None:
    value = chat(
        message("a", None, "user", "Hi.", timestamp=1_780_000_001, files=[{"type": "image"}, {"type": "file"}]),
        message("b", "a", "assistant", "Hello.", model="llama3"),
        message("c", "a", "assistant", "Ahoy."),
        message("s", "c", "system", "Be brief."),
        current="b",
    )
    for kind in ("auto", "openwebui"):
        found = read(tmp_path, json.dumps([value]).encode(), kind)
        assert (found.errors, found.kind) == ([], "openwebui" if kind == "auto" else None)
        assert found.said == {
            "Boats": [("user", "Hi.\n\n[Picture]"), ("assistant", "Hello.")],
            "Boats (branch 2)": [("user", "Hi.\n\n[Picture]"), ("assistant", "Ahoy.")],
        }
        assert found.left_out == {"images": 1, "files": 1, "hidden_messages": 1}
    assert (found.messages[0][0]["time"], found.messages[0][0]["id"]) == ("2026-05-28T20:26:41.000Z", "a")
    assert read(tmp_path, json.dumps([value]).encode(), "chatgpt").errors


def test_what_is_folded_away_is_not_what_was_said(tmp_path: Path) -> None:
    texts = {
        '<details type="reasoning" done="true">\nHm.\n</details>\nYes.': ("Yes.", {"thoughts": 1}),
        'A <details type="tool_calls">x</details>B': ("A B", {"tool_calls": 1}),
        'A <details type="mine">x</details>': ('A <details type="mine">x</details>', {}),
        'A <details type="reasoning">x': ('A <details type="reasoning">x', {}),
    }
    for content, (text, left_out) in texts.items():
        found = read(tmp_path, json.dumps([chat(message("a", None, "assistant", content))]).encode())
        assert (found.messages[0][0]["text"], found.left_out) == (text, left_out)
