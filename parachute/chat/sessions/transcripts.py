"""Transcripts: JSONL files of the agent's program, found by the id that we chose and read as untrusted input."""

import json
import os
import stat
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Literal

from parachute.base.errors import InvalidInput
from parachute.base.files import remove_tree, sync_names
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.chat.sessions.events import event_of
from parachute.chat.sessions.messages import NEWEST, has_tools
from parachute.chat.sessions.models import is_session_id
from parachute.chat.sessions.outline import LONG, Outline, Segment
from parachute.chat.sessions.outlines import Outlines
from parachute.config.vault.service import Vault

_FILE_LIMIT = 256 * 1024 * 1024
_LINE_LIMIT = 16 * 1024 * 1024
_ANSWER_LIMIT = 8 * 1024 * 1024
"""Bytes of events in one answer; the newest are kept."""

_CHUNK = 1024 * 1024
_OWN = "-scratch-"
IMPORTED = "imports/transcripts"
"""Below `.parachute`, where no agent writes: what conversations brought along that were imported."""

_IMPORTED = ".imported.jsonl"
_ORIGIN_LIMIT = 64 * 1024
_SAID = ("user", "assistant")

Kept = int | Literal["last", "all", "messages"]
"""Of which segments the events are wanted: one by its index, the newest, all, or those with the newest messages."""


@dataclass(frozen=True, slots=True)
class Found:
    """A message of a person whose answer was broken off: `has_worked` tools, and the ids of what is left of it all."""

    has_worked: bool
    ids: frozenset[str]


@dataclass(slots=True)
class Transcript:
    """A transcript that was read: all segments, and as JSON the events of those that were wanted, the newest within a limit."""

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
        self._outlines = Outlines(vault)
        self._folders: dict[Path, tuple[Signature, list[str]]] = {}

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
        """The transcript of a session: in the vault, or where the program kept it before; none behind a link."""
        name = f"{session}.jsonl"
        own = self.folder(session) / name
        if _is_regular(own) and not own.parent.is_symlink():
            return own
        for root in self._roots:
            for folder in self._others(root):
                # Asking costs a third of looking: there may be a thousand folders.
                if os.access(path := f"{folder}/{name}", os.F_OK) and _is_regular(path):
                    return Path(path)
        return None

    def imported(self, session: str) -> Path | None:
        """What an import brought of a session, which stays as it is and comes before all that is said here."""
        if not is_session_id(session):
            return None
        path = self._vault.state / IMPORTED / f"{session}{_IMPORTED}"
        return path if _is_regular(path) and not path.parent.is_symlink() else None

    def imported_ids(self) -> list[str]:
        """The sessions of which an import brought something."""
        try:
            with Folder.open(self._vault.state) as state, state.folder(IMPORTED) as found:
                names = [entry.name for entry in found.entries() if entry.name.endswith(_IMPORTED)]
        except OSError:
            return []
        return [session for name in names if is_session_id(session := name.removesuffix(_IMPORTED))]

    def origin(self, session: str) -> dict[str, Any] | None:
        """What an import says of a session in the first line of what it brought; None without one."""
        path = self.imported(session)
        file = _open(path) if path else None
        if file is None:
            return None
        with file:
            try:
                value = json.loads(file.readline(_ORIGIN_LIMIT))
            except (ValueError, RecursionError):
                return None
        return value if isinstance(value, dict) and value.get("type") == "import" else None

    def imported_events(self, session: str) -> Iterator[dict[str, Any]]:
        """The events that an import brought."""
        return _events_in(self.imported(session))

    def ids(self) -> Iterator[str]:
        """The sessions whose transcript lies in the folder of its own sandbox."""
        try:
            with Folder.open(self._roots[0]) as projects:
                names = [
                    entry.name
                    for entry in projects.entries()
                    if entry.name.startswith(_OWN) and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return
        for session in (name.removeprefix(_OWN) for name in names):
            if is_session_id(session) and _is_regular(self.folder(session) / f"{session}.jsonl"):
                yield session

    def bring(self, session: str) -> bool:
        """Bring a transcript to where the session's sandbox sees it; False if there is none.

        One without a message, as a power cut leaves it, is none: it is removed, or the program would neither go on with it
        nor begin another one of its name. Errors: Unavailable where a link leads elsewhere, OSError.
        """
        # First: what lies behind a link is there, and the conversation must not go on as if it were gone.
        self.make_folder(session)
        path = self.find(session)
        if path is None:
            return False
        own = self.folder(session) / path.name
        if path == own and not any(event["type"] in _SAID for event in _events_in(path)):
            remove_tree(own, self._vault.root)
            return False
        if path == own:
            return True
        with Folder.open(self._vault.root) as vault, vault.folder(".claude/projects") as projects:
            target = f"{own.parent.name}/{own.name}"
            if path.is_relative_to(self._roots[0]):
                projects.rename(f"{path.parent.name}/{path.name}", projects, target)
            else:  # the program's own folder is not ours to empty
                with Folder.open(path.parent) as theirs:
                    projects.write(target, theirs.read(path.name, _FILE_LIMIT))
        return True

    def take_back(self, session: str, message: str) -> Found | None:
        """Take a message out whose answer was broken off, or only what stands behind its last use of a tool; None if it is not there.

        What tools have done is done; of words that nobody has read to their end nothing is needed. Its program must not run.
        Error: OSError.
        """
        path = self.folder(session) / f"{session}.jsonl"
        file = _open(path)
        if file is None:
            return None
        cut, has_worked, ids, behind = -1, False, set[str](), set[str]()
        with file:
            is_in = False
            for place, event, _ in _events(file):
                is_in = is_in or (event["type"], event.get("uuid")) == ("user", message)
                if not is_in:
                    continue
                cut = place if cut < 0 else cut
                behind.add(str(event.get("uuid")))
                if has_tools(event):
                    ids, behind, has_worked, cut = ids | behind, set(), True, -1
            if not is_in:
                return None
            if cut >= 0:
                _cut(path, file, cut)
        return Found(has_worked, frozenset(ids))

    def sync(self, session: str) -> None:
        """Wait until what the program has written of a session is on the disk: it does not wait for that itself."""
        path = self.find(session)
        file = _open(path) if path else None
        if path is not None and file is not None:
            with file:
                os.fsync(file.fileno())
            sync_names(path.parent)

    def prepare(self, session: str) -> None:
        """Read what is new of a transcript if it is much, so that opening it needs only its newest part."""
        path = self.find(session)
        file = _open(path) if path else None
        if path is not None and file is not None:
            with file:
                outline = self._outlines.get(path)
                with outline.lock:
                    if os.fstat(file.fileno()).st_size - outline.segments[-1].start > LONG:
                        self._bring_up_to_date(outline, file, Transcript(path, "last"))

    def read(self, session: str, kept: Kept = "all", newest: int = NEWEST) -> Transcript | None:
        """The transcript of a session, or None if there is none."""
        with ExitStack() as stack:
            files = []
            for path in (self.imported(session), self.find(session)):
                file = _open(path) if path else None
                if path is not None and file is not None:
                    files.append((path, stack.enter_context(file)))
            if not files:
                return None
            found = Transcript(files[-1][0], kept)
            parts = []
            for path, file in files:
                found.clear()
                outline = self._outlines.get(path)
                with outline.lock:
                    self._bring_up_to_date(outline, file, found)
                    parts.append(list(outline.segments))
            found.segments = [replace(each, index=n) for n, each in enumerate(part for one in parts for part in one)]
            if kept != "last":
                found.clear()
                for (_, file), (start, end) in zip(files, _wanted(parts, kept, newest), strict=True):
                    for _, _, line in _events(file, start, end):
                        found.add(line)
        return found

    def events(self, session: str) -> Iterator[dict[str, Any]]:
        """All events of a session's transcript, one after the other."""
        yield from self.imported_events(session)
        yield from self.own_events(session)

    def own_events(self, session: str) -> Iterator[dict[str, Any]]:
        """The events of what was said on this computer."""
        return _events_in(self.find(session))

    def delete(self, session: str) -> None:
        """Remove a session's transcript and the folder of the same name."""
        with suppress(OSError):
            remove_tree(self.folder(session), self._vault.root)
        path = self.find(session)
        if path is not None and path.is_relative_to(self._roots[0]):
            remove_tree(path, self._vault.root)
            with suppress(OSError):
                remove_tree(path.with_suffix(""), self._vault.root)
        self._outlines.delete(path or self.folder(session) / f"{session}.jsonl")
        if imported := self.imported(session):
            remove_tree(imported, self._vault.root)
            self._outlines.delete(imported)

    def _bring_up_to_date(self, outline: Outline, file: IO[bytes], found: Transcript) -> None:
        """Read what is new of a file; `found` has the events of the newest segment then."""
        start = outline.resume(file)
        for place, event, line in _events(file, start):
            if outline.add(event, place):
                found.clear()
            found.add(line)
        outline.finish(file)
        if outline.segments[-1].start > start:
            self._outlines.store(found.path, outline)

    def _others(self, root: Path) -> list[str]:
        """Folders in which the program may have kept a transcript, listed again only when there are others.

        Another sandbox's folder is written by its agent, which may lay a transcript for us there.
        """
        try:
            now = time.time_ns()
            signature = signature_of(root.stat())
            known = self._folders.get(root)
            if known is not None and known[0] == signature:
                return known[1]
            with Folder.open(root) as projects:
                found = [
                    f"{root}/{entry.name}"
                    for entry in projects.entries()
                    if not entry.name.startswith(_OWN) and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return []
        if signature.differs_later(now):
            self._folders[root] = (signature, found)
        return found


def encoded(value: Any) -> bytes:
    """JSON in UTF-8; halves of characters, which no encoding has, become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _wanted(parts: list[list[Segment]], kept: Kept, newest: int) -> list[tuple[int, int]]:
    """From where to where in each file the wanted segments lie."""
    ranges = [(0, 0)] * len(parts)
    if isinstance(kept, int):
        for number, segments in enumerate(parts):
            if 0 <= kept < len(segments):
                ranges[number] = (
                    segments[kept].start,
                    segments[kept + 1].start if kept + 1 < len(segments) else _FILE_LIMIT,
                )
            kept -= len(segments)
        return ranges
    shown, size = 0, 0
    for number, segments in reversed(list(enumerate(parts))):
        if number < len(parts) - 1 and not (shown < newest if kept == "messages" else size < _ANSWER_LIMIT):
            break
        first = len(segments) - 1
        shown += segments[first].shown
        while first > 0 and (
            shown < newest if kept == "messages" else size + segments[-1].start - segments[first].start < _ANSWER_LIMIT
        ):
            first -= 1
            shown += segments[first].shown
        size += segments[-1].start - segments[first].start
        ranges[number] = segments[first].start, _FILE_LIMIT
    return ranges


def _events_in(path: Path | None) -> Iterator[dict[str, Any]]:
    file = _open(path) if path else None
    if file is not None:
        with file:
            for _, event, _ in _events(file):
                yield event


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


def _cut(path: Path, file: IO[bytes], size: int) -> None:
    """Leave the beginning of a file."""
    file.seek(0)
    with Folder.open(path.parent.parent) as projects, projects.replacement(f"{path.parent.name}/{path.name}") as new:
        while size > 0 and (data := file.read(min(size, _CHUNK))):
            new.write(data)
            size -= len(data)
        new.commit()


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
