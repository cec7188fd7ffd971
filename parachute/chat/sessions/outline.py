"""The outline of a transcript: where its parts begin, so that the newest one is read without all before it."""

import json
import os
import threading
from hashlib import sha256
from typing import IO, Annotated, Any

import msgspec
from msgspec import Meta, Struct, to_builtins

from parachute.base.answers import Answer
from parachute.chat.sessions.messages import shows, user_text

_PART = 512 * 1024
_LARGEST_PART = 4 * _PART
"""Bytes: a part ends before the next question of a person, and before anything when there is none for so long."""

LONG = 2 * _PART
"""Bytes of a newest part that take long to read."""

_SEGMENTS = 1000
_PREVIEW = 120
_COMPARED = 1024


class Segment(Struct):
    """A part of a transcript, without its events: `start` is its place in the file, `shown` how many messages people see."""

    index: int
    start: int = 0
    message_count: int = 0
    event_count: int = 0
    shown: int = 0
    start_time: str | None = None
    end_time: str | None = None
    preview: str | None = None

    def count(self, event: dict[str, Any]) -> None:
        """Count one more event."""
        self.event_count += 1
        self.message_count += event["type"] in ("user", "assistant")
        self.shown += shows(event)
        if isinstance(time := event.get("timestamp"), str):
            self.start_time = self.start_time or time
            self.end_time = time
        if self.preview is None and (text := user_text(event)):
            self.preview = text[:_PREVIEW]

    def describe(self, last: int, loaded: bool) -> "ShownSegment":
        """The segment as the app reads it."""
        times = self.start_time, self.end_time
        return ShownSegment(
            self.index, self.index < last, self.message_count, self.event_count, *times, self.preview, loaded
        )


class ShownSegment(Answer, frozen=True, rename="camel"):
    """A segment of a transcript as the app reads it (contract, section 2)."""

    index: int
    is_compacted: bool
    message_count: int
    event_count: int
    start_time: str | None
    end_time: str | None
    preview: str | None
    loaded: bool


class Stored(Struct, frozen=True):
    """An outline as it is kept between starts: of which file it is, what lies before its newest segment, and the others."""

    file: tuple[int, int]
    before: str
    start: Annotated[int, Meta(ge=0)]
    segments: list[Segment]


class Outline:
    """The segments of one file, each from one compaction to the next, long ones in several.

    A transcript only grows. While what lies before the newest segment ends as it did, the ones before it are taken as they
    were; the newest one is read again each time. `lock` is held while the outline is brought up to date.
    """

    def __init__(self, stored: bytes | None = None) -> None:
        """Begin with what `as_json` gave before; anything else is passed over."""
        self.lock = threading.Lock()
        self.segments = [Segment(0)]
        self._file: tuple[int, int] | None = None
        self._before = ""
        if stored is not None:
            self._take(stored)

    def as_json(self) -> bytes:
        """Return the stored form of the outline."""
        assert self._file is not None
        stored = Stored(self._file, self._before, self.segments[-1].start, self.segments[:-1])
        return json.dumps(to_builtins(stored), ensure_ascii=False).encode(errors="replace")

    def resume(self, file: IO[bytes]) -> int:
        """Forget the newest segment, or all if this is not the same file, and say from where to read on."""
        status = os.fstat(file.fileno())
        same = (status.st_dev, status.st_ino)
        start = self.segments[-1].start
        if same != self._file or status.st_size < start or _before(file, start) != self._before:
            start, self.segments = 0, [Segment(0)]
        self._file = same
        self.segments[-1] = Segment(len(self.segments) - 1, start)
        return start

    def add(self, event: dict[str, Any], place: int) -> bool:
        """Take the next event in, which begins there; whether a segment begins with it."""
        begins = len(self.segments) < _SEGMENTS and self._begins(event, place)
        if begins:
            self.segments.append(Segment(len(self.segments), place))
        self.segments[-1].count(event)
        return begins

    def finish(self, file: IO[bytes]) -> None:
        """Remember by what the file is known the next time."""
        self._before = _before(file, self.segments[-1].start)

    def _take(self, data: bytes) -> None:
        try:
            stored = msgspec.json.decode(data, type=Stored)
        except ValueError:
            return
        starts = [segment.start for segment in stored.segments] + [stored.start]
        if starts[0] == 0 and starts == sorted(set(starts)) and len(starts) <= _SEGMENTS:
            self._file, self._before = stored.file, stored.before
            self.segments = [*stored.segments, Segment(len(stored.segments), stored.start)]

    def _begins(self, event: dict[str, Any], place: int) -> bool:
        if event["type"] == "system" and event.get("subtype") == "compact_boundary":
            return True
        size = place - self.segments[-1].start
        return size >= _LARGEST_PART or (size >= _PART and user_text(event) is not None)


def _before(file: IO[bytes], place: int) -> str:
    return sha256(os.pread(file.fileno(), min(place, _COMPARED), max(place - _COMPARED, 0))).hexdigest()
