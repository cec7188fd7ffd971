"""Turns of a long transcript."""

import json
from collections.abc import Iterator
from typing import Any

LONG_SESSION = "long-transcript"


def transcript_turn(number: int) -> str:
    """As the agent's program writes it: a question, a call with a long result, and an answer."""
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in _turn(number))


def _turn(number: int) -> Iterator[dict[str, Any]]:
    moment = f"2026-01-{1 + number // 2000 % 28:02}T10:{number // 60 % 60:02}:{number % 60:02}.000Z"
    common = {"sessionId": LONG_SESSION, "timestamp": moment, "cwd": "/scratch", "version": "2.0.0"}
    call = f"toolu_{number}"
    result = {"type": "tool_result", "tool_use_id": call, "content": f"line {number} of the file\n" * 60}
    use = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": f"/vault/{number}.md"}}
    answer = {"type": "text", "text": f"This is what I found in the file {number}. " * 8}
    for role, content in (
        ("user", f"What is in the file {number}?"),
        ("assistant", [use]),
        ("user", [result]),
        ("assistant", [answer]),
    ):
        message = {"role": role, "content": content}
        yield {"type": role, "uuid": f"{number}-{len(str(content))}", **common, "message": message}
