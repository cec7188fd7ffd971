"""Transcripts: JSONL files of the agent's program, found by the id that we chose and read as untrusted input."""

import json
import os
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parachute.files import atomic_write, private_folder, read_regular
from parachute.vault.service import Vault

_FILE_LIMIT = 256 * 1024 * 1024
_LINE_LIMIT = 16 * 1024 * 1024
_ANSWER_LIMIT = 8 * 1024 * 1024
"""Bytes of events in one answer; the newest are kept."""

_PREVIEW = 120
_SHOWN = frozenset({"user", "assistant", "system"})


@dataclass(slots=True)
class Segment:
    """The part of a transcript between two compactions."""

    index: int
    events: list[dict[str, Any]] = field(default_factory=list)
    size: int = 0

    def describe(self, last: int, loaded: bool) -> dict[str, Any]:
        """The app's form of a segment (contract, section 2)."""
        times = [event["timestamp"] for event in self.events if isinstance(event.get("timestamp"), str)]
        return {
            "index": self.index,
            "isCompacted": self.index < last,
            "messageCount": sum(1 for event in self.events if event["type"] in ("user", "assistant")),
            "eventCount": len(self.events),
            "startTime": times[0] if times else None,
            "endTime": times[-1] if times else None,
            "preview": next((text[:_PREVIEW] for event in self.events if (text := user_text(event))), None),
            "loaded": loaded,
        }


class Transcripts:
    """Finds, reads and removes transcripts; its methods block, call them from a thread."""

    def __init__(self, vault: Vault, claude_folder: Path | None = None) -> None:
        self._vault = vault
        self._roots = (vault.transcripts / "projects", (claude_folder or Path.home() / ".claude") / "projects")

    def folder(self, session: str) -> Path:
        """The folder of a sandboxed session's transcript, the only one that its sandbox gets."""
        return self._roots[0] / f"-scratch-{session}"

    def find(self, session: str) -> Path | None:
        """The transcript of a session: in the vault, or where the program kept it before."""
        name = f"{session}.jsonl"
        own = self.folder(session) / name
        if _is_regular(own):
            return own
        for root in self._roots:
            try:
                folders = [entry.path for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
            except FileNotFoundError:
                continue
            for folder in folders:
                if _is_regular(path := Path(folder) / name):
                    return path
        return None

    def bring(self, session: str) -> bool:
        """Whether there is a transcript; one that lies elsewhere is brought to where the session's sandbox sees it."""
        path = self.find(session)
        if path is None:
            return False
        own = self.folder(session) / path.name
        if path == own:
            return True
        private_folder(own.parent)
        if path.is_relative_to(self._roots[0]):
            path.rename(own)
        else:
            atomic_write(own, read_regular(path, _FILE_LIMIT))  # the program's own folder is not ours to empty
        return True

    def read(self, session: str) -> tuple[Path, list[Segment]] | None:
        """All segments of a transcript, or None if there is none."""
        path = self.find(session)
        if path is None:
            return None
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        segments = [Segment(0)]
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            left = _FILE_LIMIT
            while left > 0 and (line := file.readline(_LINE_LIMIT)):
                left -= len(line)
                event = _event(line)
                if event is None:
                    continue
                if event["type"] == "system" and event.get("subtype") == "compact_boundary":
                    segments.append(Segment(len(segments)))
                segments[-1].events.append(event)
                segments[-1].size += len(line)
        return path, segments

    def delete(self, session: str) -> None:
        """Remove a session's transcript and what lies beside it under the same name."""
        shutil.rmtree(self.folder(session), ignore_errors=True)
        path = self.find(session)
        if path is not None and path.is_relative_to(self._roots[0]):
            path.unlink(missing_ok=True)
            shutil.rmtree(path.with_suffix(""), ignore_errors=True)


def as_json(session: str, path: Path, segments: list[Segment], *, full: bool, segment: int | None) -> dict[str, Any]:
    """The app's form of a transcript: the newest segment, all of them, or one by its index."""
    last = len(segments) - 1
    chosen = range(last + 1) if full else [last if segment is None else segment]
    events: list[dict[str, Any]] = []
    left = _ANSWER_LIMIT
    loaded: set[int] = set()
    for index in reversed(chosen):
        if not 0 <= index <= last:
            continue
        loaded.add(index)
        for event in reversed(segments[index].events):
            left -= len(json.dumps(event, ensure_ascii=False)) if segments[index].size > _ANSWER_LIMIT // 2 else 0
            if left < 0:
                break
            events.append(event)
    events.reverse()
    return {
        "sessionId": session,
        "transcriptPath": str(path),
        "eventCount": sum(len(part.events) for part in segments),
        "events": events,
        "segments": [part.describe(last, part.index in loaded) for part in segments],
        "segmentCount": len(segments),
        "loadedSegmentIndex": None if full else chosen[0],
    }


def messages(segments: list[Segment], limit: int = 500) -> list[dict[str, Any]]:
    """The newest messages of a transcript in the app's short form, tool calls joined with their results."""
    found: list[dict[str, Any]] = []
    calls: dict[str, dict[str, Any]] = {}
    for event in (event for part in segments for event in part.events):
        message = event.get("message")
        if event["type"] not in ("user", "assistant") or not isinstance(message, dict):
            continue
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list):
            continue
        kept: list[dict[str, Any]] = []
        for block in blocks:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "text" and isinstance(block.get("text"), str):
                kept.append({"type": "text", "text": block["text"]})
            elif block.get("type") == "tool_use":
                call = {name: block.get(name) for name in ("type", "id", "name", "input")}
                calls[str(block.get("id"))] = call
                kept.append(call)
            elif block.get("type") == "tool_result" and (call := calls.get(str(block.get("tool_use_id")), {})):
                call["result"] = result_text(block.get("content"))
                call["isError"] = block.get("is_error") is True
        if kept:
            found.append(
                {
                    "id": event.get("uuid"),
                    "role": event["type"],
                    "content": kept,
                    "timestamp": event.get("timestamp"),
                    "isCompactSummary": event.get("isCompactSummary") is True,
                }
            )
    return found[-limit:]


def user_text(event: dict[str, Any]) -> str | None:
    """The text of a message that a person wrote, or None."""
    message = event.get("message")
    if event["type"] != "user" or not isinstance(message, dict) or event.get("isMeta"):
        return None
    return _text(message.get("content"))


def assistant_text(event: dict[str, Any]) -> str | None:
    """The text of an agent's message, or None."""
    message = event.get("message")
    if event["type"] != "assistant" or not isinstance(message, dict):
        return None
    return _text(message.get("content"))


def result_text(content: Any) -> str:
    """The result of a tool as one text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            str(block.get("text", "")) if block.get("type") == "text" else f"[{block.get('type')}]"
            for block in content
            if isinstance(block, dict)
        )
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def _text(content: Any) -> str | None:
    if isinstance(content, str):
        return content or None
    if isinstance(content, list):
        texts = [block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str)]
        return "\n".join(texts) or None
    return None


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None  # the last line of a program that was killed, or one that is longer than we read
    if not isinstance(event, dict) or event.get("type") not in _SHOWN or event.get("isSidechain") is True:
        return None
    if isinstance(answered := event.get("toolUseResult"), dict) and isinstance(answered.get("answers"), dict):
        _answers_as_json(event, answered["answers"])
    return event


def _answers_as_json(event: dict[str, Any], answers: dict[str, Any]) -> None:
    """The app reads the answers to a question from the tool's result, as JSON; the program writes a sentence there."""
    message = event.get("message")
    blocks = message.get("content") if isinstance(message, dict) else None
    for block in blocks if isinstance(blocks, list) else []:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            block["content"] = json.dumps({"answers": answers}, ensure_ascii=False)


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
