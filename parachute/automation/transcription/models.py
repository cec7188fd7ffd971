"""Recordings that become text: what is asked, how far it is, and what came of it."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any, BinaryIO, Protocol

from msgspec import Struct

from parachute.base.answers import Answer


class State(StrEnum):
    """The state of a transcription; `transcribed` has its text, and the journal has not yet."""

    WAITING = "waiting"
    WORKING = "working"
    TRANSCRIBED = "transcribed"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OVER = (State.DONE, State.FAILED, State.CANCELLED)


class Segment(Answer, frozen=True):
    """Speech between two seconds of a recording."""

    start: float
    end: float
    text: str


class Transcription(Struct, frozen=True):
    """The text of a recording, with its language if it is known, its length in seconds, and what was said when."""

    text: str
    language: str | None
    seconds: float | None
    segments: tuple[Segment, ...]


class Recording(Struct, frozen=True):
    """An open file with sound, whose name says its format."""

    name: str
    file: BinaryIO
    size: int


OnProgress = Callable[[float | None], Awaitable[None]]
"""Called after each piece with the part that is done, from 0 to 1, if it is known; it may hold up the next piece."""


class Transcriber(Protocol):
    """Turns recordings into text."""

    async def transcribe(self, recording: Recording, language: str | None, on_progress: OnProgress) -> Transcription:
        """Errors: InvalidInput where trying again helps nobody, Unavailable otherwise."""


class Job(Struct, frozen=True, kw_only=True):
    """One recording of the vault on its way to a text.

    `entry` is the journal's entry that gets the text, `replaced` the text that it may replace there. `is_awaited`: somebody waits
    for it, so that it goes before others and does not sleep during chats.
    """

    id: str
    path: str
    state: State
    entry: str | None = None
    wanted_language: str | None = None
    replaced: str | None = None
    is_awaited: bool = False
    progress: float | None = None
    attempts: int = 0
    due_at: float = 0.0
    error: dict[str, Any] | None = None
    result: Transcription | None = None
    created_at: str = ""
    updated_at: str = ""
