"""The requests that the fake Messages API got, and what each was for."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["main", "title", "quota", "compaction", "helper", "count_tokens", "models", "other"]

# How the CLI's request for a summary of the conversation begins.
COMPACTION_PROMPT = "CRITICAL: Respond with TEXT ONLY"


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request as it arrived; `body` is the parsed JSON, or None when there was none."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: Any
    size: int
    kind: Kind

    @property
    def prompt(self) -> str:
        """The last text that the user typed, without the reminders that the CLI puts beside it."""
        for message in reversed(self.body.get("messages", [])):
            if message.get("role") != "user":
                continue
            typed = [piece for piece in texts_of(message) if not piece.lstrip().startswith("<system-reminder>")]
            if typed:
                return typed[-1]
        return ""

    @property
    def tool_results(self) -> list[dict[str, Any]]:
        """Every tool result block in the conversation, oldest first."""
        contents = [message.get("content") for message in self.body.get("messages", [])]
        blocks = [block for content in contents if isinstance(content, list) for block in content]
        return [block for block in blocks if block.get("type") == "tool_result"]


@dataclass(slots=True)
class Log:
    """A thread-safe list of requests and a count of streams that the client left; `tell` hears of each change."""

    tell: Callable[[], None]
    _requests: list[RecordedRequest] = field(default_factory=list)
    _disconnects: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def requests(self) -> list[RecordedRequest]:
        """A copy of the requests so far, in order of arrival."""
        with self._lock:
            return list(self._requests)

    @property
    def disconnects(self) -> int:
        """Return the number of clients that went away before their answer was complete."""
        with self._lock:
            return self._disconnects

    def add(self, request: RecordedRequest) -> None:
        """Append a request."""
        with self._lock:
            self._requests.append(request)
        self.tell()

    def add_disconnect(self) -> None:
        """Count a client that went away."""
        with self._lock:
            self._disconnects += 1
        self.tell()

    def report(self) -> str:
        """Requests and disconnects so far, for whoever has waited in vain."""
        seen = [f"{request.method} {request.path} ({request.kind})" for request in self.requests]
        return f"requests: {seen}; disconnects: {self.disconnects}"


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """List the texts of a message whose content is a string or a list of blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content or [] if block.get("type") == "text"]


def parsed(raw: bytes) -> Any:
    """Decode a body, None when it is no JSON."""
    try:
        return json.loads(raw)
    except ValueError:
        return None


def kind_of(method: str, path: str, headers: Mapping[str, str], body: Any) -> Kind:
    """Say what a request is for, so that only the conversation itself uses up a script.

    Learnt from CLI 2.1.330: titles ask for a JSON schema and bring no tools, while structured output that a caller
    asked for goes through a tool; the conversation always brings tools, thinking, context management or its environment.
    """
    if path == "/v1/models" and method == "GET":
        return "models"
    if method != "POST":
        return "other"
    if path == "/v1/messages/count_tokens":
        return "count_tokens"
    if path != "/v1/messages" or not isinstance(body, dict):
        return "other"
    if body.get("max_tokens") == 1:
        return "quota"
    if not body.get("tools"):
        if (body.get("output_config") or {}).get("format"):
            return "title"
        thinks = (body.get("thinking") or {"type": "disabled"}).get("type") != "disabled"
        from_cli = headers.get("user-agent", "").startswith("claude-cli/")
        if (
            from_cli
            and not thinks
            and "context_management" not in body
            and "# Environment" not in str(body["messages"])
        ):
            return "helper"
    messages = body.get("messages") or []
    if messages and any(piece.startswith(COMPACTION_PROMPT) for piece in texts_of(messages[-1])):
        return "compaction"
    return "main"
