"""One transcript: a JSONL file of the agent's program, read within limits as untrusted input."""

import json
import os
from collections import deque
from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import IO, Any, Literal

from msgspec import Struct, field, to_builtins

from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder
from parachute.chat.sessions.branches import Branches, Mark, Tree, taken_back
from parachute.chat.sessions.events import Row, row_of
from parachute.chat.sessions.outline import Segment, ShownSegment

FILE_LIMIT = 256 * 1024 * 1024
LINE_LIMIT = 16 * 1024 * 1024
_ANSWER_LIMIT = 8 * 1024 * 1024
"""Bytes of events in one answer; the newest are kept."""

_HELD = 16 * 1024 * 1024
"""Bytes of events that are kept until it is known what was taken back; those behind them are read a second time."""

_CHUNK = 1024 * 1024
Kept = int | Literal["last", "all", "messages"]
"""Of which segments the events are wanted: one by its index, the newest, all, or those with the newest messages."""


class Transcript(Struct):
    """A transcript that was read: all segments, and as JSON the events of those that were wanted, the newest within a limit."""

    path: Path
    kept: Kept
    segments: list[Segment] = field(default_factory=list)
    lines: deque[bytes] = field(default_factory=deque)
    marks: deque[tuple[Tree, Mark]] = field(default_factory=deque)
    tree: Tree = field(default_factory=Tree)
    size: int = 0

    @property
    def events(self) -> Iterator[dict[str, Any]]:
        """The wanted events, oldest first."""
        return (json.loads(line) for line in self.lines)

    def clear(self) -> None:
        """Forget the events."""
        self.tree.is_whole = False
        self.lines.clear()
        self.marks.clear()
        self.size = 0

    def begin(self, start: int = 0) -> None:
        """Begin at that place of another file, in which nothing follows what the others have."""
        self.tree = Tree(is_whole=start == 0)

    def add(self, row: Row) -> None:
        """Take the next row in."""
        if row.shown is None:
            self.tree.pass_over(row)
            return
        event, line = row.shown
        self.lines.append(line)
        self.marks.append((self.tree, self.tree.mark(row, event)))
        self.size += len(line)
        while self.size > _ANSWER_LIMIT:
            self.size -= len(self.lines.popleft())
            self.marks.popleft()[0].is_whole = False

    def leave_out_taken_back(self) -> None:
        """Keep what is on the path to where each file's conversation stands."""
        gone, first = set[int](), 0
        for _, marks in groupby(self.marks, key=lambda each: id(each[0])):
            part = list(marks)
            gone |= {first + place for place in taken_back([mark for _, mark in part], part[0][0])}
            first += len(part)
        if gone:
            self.lines = deque(line for place, line in enumerate(self.lines) if place not in gone)
            self.marks = deque(mark for place, mark in enumerate(self.marks) if place not in gone)
            self.size = sum(map(len, self.lines))

    def as_json(self, session: str) -> bytes:
        """The app's form of a transcript."""
        last = len(self.segments) - 1
        loaded = last if self.kept == "last" else self.kept
        answer = ShownTranscript(
            session_id=session,
            transcript_path=str(self.path),
            event_count=sum(part.event_count for part in self.segments),
            segments=[part.describe(last, loaded in ("all", part.index)) for part in self.segments],
            segment_count=len(self.segments),
            loaded_segment_index=loaded if isinstance(loaded, int) and loaded <= last else None,
            events=[],
        )
        # The events are JSON already: joined as they are, because writing megabytes anew would hold up everybody.
        return encoded(to_builtins(answer)).removesuffix(b"]}") + b",".join(self.lines) + b"]}"


class ShownTranscript(Answer, frozen=True, rename="camel"):
    """A transcript as the app reads it; its events are as the agent's program has written them."""

    session_id: str
    transcript_path: str
    event_count: int
    segments: list[ShownSegment]
    segment_count: int
    loaded_segment_index: int | None
    events: list[dict[str, Any]]


def encoded(value: Any) -> bytes:
    """JSON in UTF-8; halves of characters, which no encoding has, become question marks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def open_file(path: Path) -> IO[bytes] | None:
    """The file of a transcript; None for what is none."""
    # The session's folder is one that an agent writes.
    try:
        with Folder.open(path.parent.parent) as projects:
            return projects.file(f"{path.parent.name}/{path.name}")
    except (OSError, InvalidInput):
        return None


def events_in(path: Path | None, *, with_taken_back: bool = False) -> Iterator[dict[str, Any]]:
    """The events of a file, without what was taken back; none where there is none."""
    file = open_file(path) if path else None
    if file is None:
        return
    with file:
        if with_taken_back:
            yield from (event for _, event, _ in read_events(file))
            return
        branches, held, size, rest = Branches(), [], 0, None
        for place, row in read_rows(file):
            branches.add(row)
            if row.shown is not None and size < _HELD:
                held.append(row.shown[0])
                size += len(row.shown[1])
            elif row.shown is not None and rest is None:
                rest = place
        gone = branches.taken_back()
        others = () if rest is None else (event for _, event, _ in read_events(file, rest))
        yield from (event for number, event in enumerate(chain(held, others)) if number not in gone)


def read_events(file: IO[bytes], start: int = 0, end: int = FILE_LIMIT) -> Iterator[tuple[int, dict[str, Any], bytes]]:
    """Each event with its place in the file and its JSON; `start` is the beginning of a line."""
    for place, row in read_rows(file, start, end):
        if row.shown is not None:
            yield place, *row.shown


def read_rows(file: IO[bytes], start: int = 0, end: int = FILE_LIMIT) -> Iterator[tuple[int, Row]]:
    """Each row with its place in the file; `start` is the beginning of a line."""
    file.seek(start)
    place, inside_long_line = start, False
    while place < end and (line := file.readline(min(LINE_LIMIT, end - place))):
        # The rest of a line that is longer than we read is no line of its own.
        is_rest, inside_long_line = inside_long_line, not line.endswith(b"\n")
        found = None if is_rest else row_of(line)
        if found is not None:
            yield place, found
        place += len(line)


def wanted_ranges(parts: list[list[Segment]], kept: Kept, newest: int) -> list[tuple[int, int]]:
    """From where to where in each file the wanted segments lie."""
    ranges = [(0, 0)] * len(parts)
    if isinstance(kept, int):
        for number, segments in enumerate(parts):
            if 0 <= kept < len(segments):
                ranges[number] = (
                    segments[kept].start,
                    segments[kept + 1].start if kept + 1 < len(segments) else FILE_LIMIT,
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
        ranges[number] = segments[first].start, FILE_LIMIT
    return ranges


def cut_file(path: Path, file: IO[bytes], size: int) -> None:
    """Leave the beginning of a file."""
    file.seek(0)
    with Folder.open(path.parent.parent) as projects, projects.replacement(f"{path.parent.name}/{path.name}") as new:
        while size > 0 and (data := file.read(min(size, _CHUNK))):
            new.write(data)
            size -= len(data)
        new.commit()


def end_line(path: Path) -> None:
    """End the last line of a file that a killed program has left unfinished: the next program would write into it. Error: OSError."""
    file = open_file(path)
    if file is None:
        return
    with file, Folder.open(path.parent.parent) as projects:
        if (size := os.fstat(file.fileno()).st_size) and os.pread(file.fileno(), 1, size - 1) != b"\n":
            # Whatever the agent lays there meanwhile, nothing waits for it.
            flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK
            with os.fdopen(projects.descriptor(f"{path.parent.name}/{path.name}", flags), "ab") as end:
                end.write(b"\n")
