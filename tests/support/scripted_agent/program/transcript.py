"""The transcript of a session: a line of JSON for each message, as Claude Code 2.1 writes it."""

import json
import re
import uuid
from datetime import UTC, datetime
from typing import Any

from .options import Options

VERSION = "2.1.330"
_UNANSWERED = "No response requested."
"""Stands between two messages of the person, of which the first got no answer."""
_ROLES = ("user", "assistant")


def now() -> str:
    """The time, in the form of transcripts."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Transcript:
    """Reads and continues one file; `messages` is what the model gets of it."""

    def __init__(self, options: Options) -> None:
        self._options = options
        projects = options.configuration / "projects"
        name = f"{options.session}.jsonl"
        new = projects / re.sub(r"[^a-zA-Z0-9]", "-", options.directory) / name
        # A session goes on where it began, in whatever folder it works now.
        self.path = next(projects.glob(f"*/{name}"), new)
        self.messages: list[dict[str, Any]] = []
        self._last: str | None = None

    def read(self) -> bool:
        """Take up what is there, from the last message back to the first; False without a file."""
        if not self.path.exists():
            return False
        lines = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines() if line.strip()]
        found = {line["uuid"]: line for line in lines if line.get("uuid") and not line.get("isSidechain")}
        identifier = self._last = next(reversed(found), None)
        chain: list[dict[str, Any]] = []
        while identifier in found and len(chain) <= len(found):
            chain.append(found[identifier])
            identifier = chain[-1].get("parentUuid")
        for line in reversed(chain):
            if line["type"] in _ROLES and not line.get("isMeta"):
                self._remember(line["message"])
            elif line["type"] == "attachment" and line["attachment"].get("type") == "hook_additional_context":
                self._remember({"role": "system", "content": reminders(line["attachment"]["content"])})
        return True

    def add(self, kind: str, message: dict[str, Any], identifier: str | None = None, **fields: Any) -> str:
        """Append a message and return its identifier."""
        self._remember(message)
        return self._append({**fields, "type": kind, "message": message}, identifier or str(uuid.uuid4()))

    def add_context(self, texts: list[str]) -> None:
        """Append what hooks said to a message."""
        self._remember({"role": "system", "content": reminders(texts)})
        attachment = {"type": "hook_additional_context", "content": texts, "hookEvent": "UserPromptSubmit"}
        self._append({"type": "attachment", "attachment": attachment}, str(uuid.uuid4()))

    def _append(self, fields: dict[str, Any], identifier: str) -> str:
        line = {
            "parentUuid": self._last,
            "isSidechain": False,
            **fields,
            "uuid": identifier,
            "timestamp": now(),
            "userType": "external",
            "entrypoint": "sdk-py",
            "cwd": self._options.directory,
            "sessionId": self._options.session,
            "version": VERSION,
            "gitBranch": "HEAD",
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._last = identifier
        return identifier

    def _remember(self, message: dict[str, Any]) -> None:
        last = self.messages[-1] if self.messages else None
        content = message["content"]
        if last is not None and (
            _are_results(last, message) or (message.get("id") and last.get("id") == message["id"])
        ):
            last["content"] = [*last["content"], *content]
            return
        if last is not None and last["role"] == message["role"] == "user":
            self.messages.append({"role": "assistant", "content": [{"type": "text", "text": _UNANSWERED}]})
        self.messages.append({name: message[name] for name in ("role", "content", "id") if name in message})


def reminders(texts: list[str]) -> list[dict[str, Any]]:
    """Render what hooks said as blocks of a message."""
    heading = "UserPromptSubmit hook additional context"
    return [{"type": "text", "text": f"<system-reminder>\n{heading}: {text}\n</system-reminder>"} for text in texts]


def _are_results(*messages: dict[str, Any]) -> bool:
    """True for results of tools, which the model gets in one message."""
    return all(
        message["role"] == "user" and not isinstance(message["content"], str) and "tool_use_id" in message["content"][0]
        for message in messages
    )
