"""Sessions and their messages, as the app reads them."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Discriminator, Field, Tag, model_validator

from .dart import Camel, Moment, Snake


class BotSettings(Snake):
    """Settings of a bot's answers in a linked chat."""

    response_mode: str | None = None
    mention_pattern: str | None = None


class SessionMetadata(Snake):
    """The members of a session's metadata that the app knows."""

    bot_settings: BotSettings | None = None
    pairing_request_id: str | None = None
    first_message: str | None = None
    pending_approval: bool | None = None
    pending_initialization: bool | None = None


class Session(Camel):
    """One row of the list of chats."""

    id: str = ""
    agent_path: str | None = None
    agent_name: str | None = None
    agent_type: str | None = None
    title: str | None = None
    created_at: Moment | None = None
    updated_at: Moment | None = Field(None, validation_alias=AliasChoices("updatedAt", "lastAccessed"))
    message_count: int = 0
    archived: bool = False
    source: str | None = None
    continued_from: str | None = None
    original_id: str | None = None
    working_directory: str | None = None
    trust_level: str | None = Field(None, validation_alias=AliasChoices("trustLevel", "trust_level"))
    linked_bot_platform: str | None = Field(
        None, validation_alias=AliasChoices("linkedBotPlatform", "linked_bot_platform")
    )
    linked_bot_chat_id: str | None = Field(None, validation_alias=AliasChoices("linkedBotChatId", "linked_bot_chat_id"))
    linked_bot_chat_type: str | None = Field(
        None, validation_alias=AliasChoices("linkedBotChatType", "linked_bot_chat_type")
    )
    workspace_id: str | None = Field(None, validation_alias=AliasChoices("workspaceId", "workspace_id"))
    metadata: SessionMetadata | None = None


class SessionList(Snake):
    """`GET /api/chat`: an object with `sessions`, or the bare list."""

    sessions: list[Session]

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, data: Any) -> Any:
        return {"sessions": data} if isinstance(data, list) else data


class SessionEnvelope(Snake):
    """Answer of archive, unarchive and config."""

    session: Session


class ContentText(Snake):
    """A piece of text in a message."""

    text: str


class ContentToolUse(Camel):
    """A tool call in a message."""

    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]
    result: str | None = None
    is_error: bool = False


def _content_kind(item: Any) -> str:
    if isinstance(item, str):
        return "string"
    return "tool_use" if isinstance(item, dict) and item.get("type") == "tool_use" else "text"


ContentItem = Annotated[
    Annotated[str, Tag("string")] | Annotated[ContentText, Tag("text")] | Annotated[ContentToolUse, Tag("tool_use")],
    Discriminator(_content_kind),
]


class Message(Camel):
    """One message of a session that has no transcript."""

    id: str | None = None
    para_id: str | None = None
    role: str
    content: str | list[ContentItem]
    timestamp: Moment | None = None
    is_streaming: bool = False
    is_compact_summary: bool = False


class SessionWithMessages(Session):
    """`GET /api/chat/{id}`."""

    messages: list[Message] = []
