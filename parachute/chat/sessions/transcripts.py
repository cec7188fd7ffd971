"""Transcripts: JSONL files of the agent's program, found by the id that we chose and read as untrusted input."""

import json
import os
import shutil
import stat
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from parachute.base.folders import Folder
from parachute.errors import InvalidInput
from parachute.files import sync_names
from parachute.sessions.events import event_of
from parachute.sessions.messages import NEWEST
from parachute.sessions.models import is_session_id
from parachute.sessions.outline import Outline, Segment
from parachute.vault.service import Vault

_FILE_LIMIT = 256 * 1024 * 1024
_LINE_LIMIT = 16 * 1024 * 1024
_ANSWER_LIMIT = 8 * 1024 * 1024
"""Bytes of events in one answer; the newest are kept."""

_OWN = "-scratch-"
_SAID = ("user", "assistant")

Kept = int | Literal["last", "all", "messages"]
"""Of which segments the events are wanted: one by its index, the newest, all, or those with the newest messages."""

_OUTLINES = 64
_JUST_NOW_NS = 100_000_000
"""A folder that changed so lately may change again without a new time of change."""


@dataclass(slots=True)
class Transcript:
    """What was read: all segments, and as JSON the events of those that were wanted, the newest within a limit."""

    path: Path
    kept: Kept
    segments: list[Segment] = field(default_factory=list)
    lines: deque[bytes] = field(default_factory=deque)
    size: int = 0

    @property
    def events(self) -> Iterator[dict[str, Any]]:
        """The wanted events, oldest first."""
        return (json.loads(line) for line in self.lines)

    def clear(self) -> None:
        """Forget the events."""
        self.lines.clear()
        self.size = 0

    def add(self, line: bytes) -> None:
        """Take the next event in."""
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
            "loadedSegmentIndex": loaded if isinstance(loaded, int) and loaded <= last else None,
        }
        # The events are JSON already: joined as they are, because writing megabytes anew would hold up everybody.
        return encoded(answer)[:-1] + b',"events":[' + b",".join(self.lines) + b"]}"


class Transcripts:
    """Finds, reads and removes transcripts; its methods block, call them from a thread."""

    def __init__(self, vault: Vault, claude_folder: Path | None = None) -> None:
        self._vault = vault
        self._roots = (vault.transcripts / "projects", (claude_folder or Path.home() / ".claude") / "projects")
        self._outlines: OrderedDict[Path, Outline] = OrderedDict()
        self._folders: dict[Path, tuple[tuple[int, ...], list[str]]] = {}
        self._lock = threading.Lock()

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
            for folder in self._others(root):
                if _is_regular(path := f"{folder}/{name}"):
                    return Path(path)
        return None

    def ids(self) -> Iterator[str]:
        """The sessions whose transcript lies in the folder of its own sandbox."""
        try:
            with os.scandir(self._roots[0]) as entries:
                names = [entry.name for entry in entries if entry.name.startswith(_OWN)]
        except OSError:
            return
        for session in (name.removeprefix(_OWN) for name in names):
            if is_session_id(session) and _is_regular(self.folder(session) / f"{session}.jsonl"):
                yield session

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
            outline = self._outline(path)
            with outline.lock:
                _bring_up_to_date(outline, file, found)
                found.segments = list(outline.segments)
            if kept != "last":
                found.clear()
                for _, _, line in _events(file, *_wanted(found.segments, kept)):
                    found.add(line)
        return found

    def events(self, session: str) -> Iterator[dict[str, Any]]:
        """All events of a session's transcript, one after the other."""
        path = self.find(session)
        file = _open(path) if path else None
        if file is not None:
            with file:
                for _, event, _ in _events(file):
                    yield event

    def delete(self, session: str) -> None:
        """Remove a session's transcript and what lies beside it under the same name."""
        shutil.rmtree(self.folder(session), ignore_errors=True)
        path = self.find(session)
        if path is not None and path.is_relative_to(self._roots[0]):
            path.unlink(missing_ok=True)
            shutil.rmtree(path.with_suffix(""), ignore_errors=True)

    def _outline(self, path: Path) -> Outline:
        with self._lock:
            outline = self._outlines.setdefault(path, Outline())
            self._outlines.move_to_end(path)
            if len(self._outlines) > _OUTLINES:
                self._outlines.popitem(last=False)
            return outline

    def _others(self, root: Path) -> list[str]:
        """Folders in which the program may have kept a transcript, listed again only when there are others.

        Another sandbox's folder is written by its agent, which may lay a transcript for us there.
        """
        try:
            status = root.stat()
            times = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
            known = self._folders.get(root)
            if known is not None and known[0] == times:
                return known[1]
            with os.scandir(root) as entries:
                found = [
                    entry.path
                    for entry in entries
                    if not entry.name.startswith(_OWN) and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return []
        if abs(time.time_ns() - status.st_mtime_ns) > _JUST_NOW_NS:
            self._folders[root] = (times, found)
        return found


def encoded(value: Any) -> bytes:
    """JSON in UTF-8; halves of characters, which no encoding has, become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _bring_up_to_date(outline: Outline, file: IO[bytes], found: Transcript) -> None:
    """Read what is new of a file; `found` has the events of the newest segment then."""
    for place, event, line in _events(file, outline.resume(file)):
        if outline.add(event, place):
            found.clear()
        found.add(line)
    outline.finish(file)


def _wanted(segments: list[Segment], kept: Kept) -> tuple[int, int]:
    """From where to where in the file the wanted segments lie."""
    if isinstance(kept, int):
        if kept >= len(segments):
            return 0, 0
        return segments[kept].start, segments[kept + 1].start if kept + 1 < len(segments) else _FILE_LIMIT
    first = len(segments) - 1
    shown = segments[first].shown
    while first > 0 and (
        shown < NEWEST if kept == "messages" else segments[-1].start - segments[first].start < _ANSWER_LIMIT
    ):
        first -= 1
        shown += segments[first].shown
    return segments[first].start, _FILE_LIMIT


def _events(file: IO[bytes], start: int = 0, end: int = _FILE_LIMIT) -> Iterator[tuple[int, dict[str, Any], bytes]]:
    """Each event with its place in the file and its JSON; `start` is the beginning of a line."""
    file.seek(start)
    place, inside_long_line = start, False
    while place < end and (line := file.readline(min(_LINE_LIMIT, end - place))):
        # The rest of a line that is longer than we read is no line of its own.
        is_rest, inside_long_line = inside_long_line, not line.endswith(b"\n")
        found = None if is_rest else event_of(line)
        if found is not None:
            yield place, *found
        place += len(line)


def _open(path: Path) -> IO[bytes] | None:
    # The session's folder is one that an agent writes.
    try:
        with Folder.open(path.parent.parent) as projects:
            return projects.file(f"{path.parent.name}/{path.name}")
    except (OSError, InvalidInput):
        return None


def _is_regular(path: Path | str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
