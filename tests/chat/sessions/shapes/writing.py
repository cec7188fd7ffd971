"""A transcript line by line, as the agent's program writes it; each text has a mark by which it is known again."""

import json
from typing import Any

SESSION = "0000000a-aaaa-4aaa-8aaa-aaaaaaaaaaaa"


class Talk:
    """Lines that follow one another; a line's id is returned, and `parent` and the other members may be given.

    Marks: `asked1` a person has said, `answered2` the model; `called3` is a call, `result4` what came of it; `noted5` the program wrote.
    """

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.last: str | None = None
        self.count = 0

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return b"".join(self.lines)

    def mark(self, kind: str) -> str:
        """A mark that no other text has."""
        self.count += 1
        return f"{kind}{self.count}"

    def add(self, event: dict[str, Any] | bytes) -> None:
        """Write a line that is no part of the tree."""
        self.lines.append(event if isinstance(event, bytes) else _line(event))

    def row(self, kind: str, **members: Any) -> str:
        """Write a line of the tree."""
        number = len(self.lines) + 1
        row = {
            "parentUuid": self.last,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/user/Projects/boat",
            "sessionId": SESSION,
            "version": "2.1.330",
            "type": kind,
            "uuid": f"{number:08x}-bbbb-4bbb-8bbb-bbbbbbbbbbbb",
            "timestamp": f"2026-11-20T{10 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
        } | members
        self.add(row)
        if row["isSidechain"] is False:
            self.last = row["uuid"]
        return str(row["uuid"])

    def asks(self, text: str | list[Any] | None = None, **members: Any) -> str:
        """Write what a person says."""
        content = self.mark("asked") if text is None else text
        return self.row("user", message={"role": "user", "content": content}, **members)

    def notes(self, text: str | list[Any], **members: Any) -> str:
        """Write what the program says in the person's name."""
        return self.row("user", message={"role": "user", "content": text}, **members)

    def answers(self, *blocks: dict[str, Any], message: str | None = None, **members: Any) -> str:
        """Write what the model says."""
        content = blocks or ({"type": "text", "text": self.mark("answered")},)
        about = {"id": message or self.mark("msg_"), "type": "message", "role": "assistant", "model": "claude-opus-4-6"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return self.row("assistant", message={**about, "content": list(content), "usage": usage}, **members)

    def calls(self, *, message: str | None = None, **members: Any) -> tuple[str, str]:
        """Write a call of a tool; the ids of the line and of the call."""
        call = self.mark("called")
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"echo {call}"}}
        return self.answers(block, message=message, **members), call

    def returns(self, call: str, content: Any = None, **members: Any) -> str:
        """Write what came of a call."""
        content = self.mark("result") if content is None else content
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.notes([block], **{"toolUseResult": {"stdout": "x"}, **members})

    def system(self, subtype: str, **members: Any) -> str:
        """Write a line of the program's own."""
        return self.row("system", subtype=subtype, isMeta=False, level="info", **members)

    def attaches(self, kind: str, parts: dict[str, Any] | None = None, **members: Any) -> str:
        """Write an attachment, such as a message that was typed while the agent worked."""
        return self.row("attachment", attachment={"type": kind, **(parts or {})}, **members)

    def queues(self, text: Any = None, parts: dict[str, Any] | None = None, **members: Any) -> str:
        """Write a message that was typed while the agent worked."""
        said = self.mark("asked") if text is None else text
        queued = {"prompt": said, "commandMode": "prompt", **(parts or {})}
        return self.attaches("queued_command", queued, **members)

    def turn(self, **members: Any) -> tuple[str, str]:
        """Write a question and its answer."""
        return self.asks(**members), self.answers()

    def prompts(self, leaf: str | None, **members: Any) -> None:
        """Write where the program says that the conversation stands."""
        self.add({"type": "last-prompt", "sessionId": SESSION, "leafUuid": leaf, **members})

    def again(self, *numbers: int) -> None:
        """Write some lines once more."""
        self.lines += [self.lines[number] for number in numbers]


def text(words: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words}


def _line(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
