"""`GET /api/chat/{id}/transcript`, as the app reads it."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Tag

from .dart import Camel, Moment, Snake


class ResultText(Snake):
    """A piece of text in a tool result."""

    type: Literal["text"]
    text: str


class OtherBlock(Snake):
    """A block that the app passes over; only its type matters."""

    type: str


def _kind(known: frozenset[str], block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if kind in known else "other"


ResultItem = Annotated[
    Annotated[ResultText, Tag("text")] | Annotated[OtherBlock, Tag("other")],
    Discriminator(lambda block: _kind(frozenset({"text"}), block)),
]


class TextBlock(Snake):
    """Text of the user or of the model."""

    type: Literal["text"]
    text: str


class ThinkingBlock(Snake):
    """The model's thinking."""

    type: Literal["thinking"]
    thinking: str


class ToolUseBlock(Snake):
    """A tool call."""

    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(Snake):
    """Answer of a tool; it contains the user's answers to a question as JSON."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[ResultItem]


BLOCKS = frozenset({"text", "thinking", "tool_use", "tool_result"})

TranscriptBlock = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ThinkingBlock, Tag("thinking")]
    | Annotated[ToolUseBlock, Tag("tool_use")]
    | Annotated[ToolResultBlock, Tag("tool_result")]
    | Annotated[OtherBlock, Tag("other")],
    Discriminator(lambda block: _kind(BLOCKS, block)),
]


class TranscriptMessage(Camel):
    """The message inside a line of the transcript."""

    content: str | list[TranscriptBlock]
    model: str | None = None
    is_compact_summary: bool | None = None


class TranscriptEvent(Camel):
    """One line of the transcript; `timestamp` is a date and time or milliseconds since 1970."""

    type: str = "unknown"
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    timestamp: Moment | int | None = None
    is_compact_summary: bool = False
    message: TranscriptMessage | None = None


class Segment(Camel):
    """A part of a long transcript, between two compactions."""

    index: int = 0
    is_compacted: bool = False
    message_count: int = 0
    event_count: int = 0
    start_time: Moment | None = None
    end_time: Moment | None = None
    preview: str | None = None
    loaded: bool = False


class Transcript(Camel):
    """The transcript of a session, whole or in segments."""

    session_id: str = ""
    transcript_path: str | None = None
    event_count: int | None = None
    events: list[TranscriptEvent] = []
    segments: list[Segment] = []
    segment_count: int = 0
    loaded_segment_index: int | None = None
