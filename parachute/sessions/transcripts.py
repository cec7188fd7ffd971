"""Transcripts: JSONL files of the agent's program, found by the id that we chose and read as untrusted input."""

import contextlib
import json
import os
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from parachute.base.folders import Folder
from parachute.errors import InvalidInput
from parachute.files import sync_names
from parachute.sessions.events import event_of
from parachute.sessions.messages import user_text
from parachute.sessions.models import is_session_id
from parachute.vault.service import Vault

_FILE_LIMIT = 256 * 1024 * 1024
_LINE_LIMIT = 16 * 1024 * 1024
_ANSWER_LIMIT = 8 * 1024 * 1024
"""Bytes of events in one answer; the newest are kept."""

_PREVIEW = 120
_SEGMENTS = 1000
_OWN = "-scratch-"
_SAID = ("user", "assistant")

Kept = int | Literal["last", "all"]
"""Of which segments the events are wanted: one by its index, the newest, or all."""


@dataclass(slots=True)
class Segment:
    """The part of a transcript between two compactions, without its events."""

    index: int
    message_count: int = 0
    event_count: int = 0
    start_time: str | None = None
    end_time: str | None = None
    preview: str | None = None

    def count(self, event: dict[str, Any]) -> None:
        """Take note of one more event."""
        self.event_count += 1
        self.message_count += event["type"] in ("user", "assistant")
        if isinstance(time := event.get("timestamp"), str):
            self.start_time = self.start_time or time
            self.end_time = time
        if self.preview is None and (text := user_text(event)):
            self.preview = text[:_PREVIEW]

    def describe(self, last: int, loaded: bool) -> dict[str, Any]:
        """The app's form of a segment (contract, section 2)."""
        return {
            "index": self.index,
            "isCompacted": self.index < last,
            "messageCount": self.message_count,
            "eventCount": self.event_count,
            "startTime": self.start_time,
            "endTime": self.end_time,
            "preview": self.preview,
            "loaded": loaded,
        }


@dataclass(slots=True)
class Transcript:
    """What was read: all segments, and as JSON the events of those that were wanted, the newest within a limit."""

    path: Path
    kept: Kept
    segments: list[Segment] = field(default_factory=lambda: [Segment(0)])
    lines: deque[bytes] = field(default_factory=deque)
    size: int = 0

    @property
    def events(self) -> Iterator[dict[str, Any]]:
        """The wanted events, oldest first."""
        return (json.loads(line) for line in self.lines)

    def add(self, event: dict[str, Any], line: bytes) -> None:
        """Take the next event in."""
        is_boundary = event["type"] == "system" and event.get("subtype") == "compact_boundary"
        if is_boundary and len(self.segments) < _SEGMENTS:
            self.segments.append(Segment(len(self.segments)))
            if self.kept == "last":
                self.lines.clear()
                self.size = 0
        self.segments[-1].count(event)
        if self.kept in ("last", "all", self.segments[-1].index):
            self.lines.append(line)
            self.size += len(line)
            while self.size > _ANSWER_LIMIT:
                self.size -= len(self.lines.popleft())

    def as_json(self, session: str) -> bytes:
        """The app's form of a transcript."""
        last = len(self.segments) - 1
        loaded = last if self.kept == "last" else self.kept
        answer = {
            "sessionId": session,
            "transcriptPath": str(self.path),
            "eventCount": sum(part.event_count for part in self.segments),
            "segments": [part.describe(last, loaded in ("all", part.index)) for part in self.segments],
            "segmentCount": len(self.segments),
            "loadedSegmentIndex": loaded if loaded != "all" and loaded <= last else None,
        }
        # The events are JSON already: joined as they are, because writing megabytes anew would hold up everybody.
        return encoded(answer)[:-1] + b',"events":[' + b",".join(self.lines) + b"]}"


class Transcripts:
    """Finds, reads and removes transcripts; its methods block, call them from a thread."""

    def __init__(self, vault: Vault, claude_folder: Path | None = None) -> None:
        self._vault = vault
        self._roots = (vault.transcripts / "projects", (claude_folder or Path.home() / ".claude") / "projects")

    def folder(self, session: str) -> Path:
        """The folder of a sandboxed session's transcript, the only one that its sandbox gets; error: InvalidInput."""
        if not is_session_id(session):
            raise InvalidInput("sessionId: expected 1 to 64 letters, digits, `-` and `_`.")
        return self._roots[0] / f"{_OWN}{session}"

    def make_folder(self, session: str) -> None:
        """Make that folder; errors: Unavailable where a link leads elsewhere, OSError."""
        folder = self.folder(session)
        self._vault.private_folder(*folder.relative_to(self._vault.root).parts)

    def find(self, session: str) -> Path | None:
        """The transcript of a session: in the vault, or where the program kept it before."""
        name = f"{session}.jsonl"
        own = self.folder(session) / name
        if _is_regular(own):
            return own
        for root in self._roots:
            for folder in _folders(root):
                # Another sandbox's folder is written by its agent, which may lay a transcript for us there.
                if not folder.name.startswith(_OWN) and _is_regular(path := folder / name):
                    return path
        return None

    def bring(self, session: str) -> bool:
        """Whether there is a transcript; one that lies elsewhere is brought to where the session's sandbox sees it.

        One without a message, as a power cut leaves it, is none: it is removed, or the program would neither go on with it
        nor begin another one of its name.
        """
        path = self.find(session)
        if path is None:
            return False
        own = self.folder(session) / path.name
        if path == own and not any(event["type"] in _SAID for event in self.events(session)):
            own.unlink()
            return False
        if path == own:
            return True
        self.make_folder(session)
        if path.is_relative_to(self._roots[0]):
            path.rename(own)
        else:  # the program's own folder is not ours to empty
            with Folder.open(path.parent) as theirs, Folder.open(own.parent) as ours:
                ours.write(own.name, theirs.read(path.name, _FILE_LIMIT))
        return True

    def sync(self, session: str) -> None:
        """Wait until what the program has written of a session is on the disk: it does not wait for that itself."""
        path = self.find(session)
        file = _open(path) if path else None
        if path is not None and file is not None:
            with file:
                os.fsync(file.fileno())
            sync_names(path.parent)

    def read(self, session: str, kept: Kept = "all") -> Transcript | None:
        """The transcript of a session, or None if there is none."""
        path = self.find(session)
        file = _open(path) if path else None
        if path is None or file is None:
            return None
        found = Transcript(path, kept)
        with file:
            for event, line in _events(file):
                found.add(event, line)
        return found

    def events(self, session: str) -> Iterator[dict[str, Any]]:
        """All events of a session's transcript, one after the other."""
        path = self.find(session)
        file = _open(path) if path else None
        if file is not None:
            with file:
                for event, _ in _events(file):
                    yield event

    def delete(self, session: str) -> None:
        """Remove a session's transcript and what lies beside it under the same name."""
        shutil.rmtree(self.folder(session), ignore_errors=True)
        path = self.find(session)
        if path is not None and path.is_relative_to(self._roots[0]):
            path.unlink(missing_ok=True)
            shutil.rmtree(path.with_suffix(""), ignore_errors=True)


def encoded(value: Any) -> bytes:
    """JSON in UTF-8; halves of characters, which no encoding has, become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _events(file: IO[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Each event with its JSON."""
    left, inside_long_line = _FILE_LIMIT, False
    while left > 0 and (line := file.readline(min(_LINE_LIMIT, left))):
        left -= len(line)
        # The rest of a line that is longer than we read is no line of its own.
        is_rest, inside_long_line = inside_long_line, not line.endswith(b"\n")
        found = None if is_rest else event_of(line)
        if found is not None:
            yield found


def _open(path: Path) -> IO[bytes] | None:
    # The session's folder is one that an agent writes.
    try:
        with Folder.open(path.parent.parent) as projects:
            return projects.file(f"{path.parent.name}/{path.name}")
    except (OSError, InvalidInput):
        return None


def _folders(root: Path) -> list[Path]:
    with contextlib.suppress(OSError), os.scandir(root) as entries:
        return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return []


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
