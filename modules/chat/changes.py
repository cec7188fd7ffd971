"""Changes of conversations that somebody proposed and the user approved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from parachute.core import InvalidInput
from parachute.core.conversations import Conversations
from parachute.core.interfaces import Conversation


@dataclass(frozen=True, slots=True)
class ConversationChange:
    """A change of a conversation; what is left out stays."""

    title: str = ""
    archived: Annotated[bool, "true puts it away, false takes it back"] = False


async def changed(
    conversations: Conversations, target_id: str | None, payload: Mapping[str, Any], version: str | int | None
) -> Conversation:
    """Make a change; errors: InvalidInput, NotFound, Conflict when the conversation has changed."""
    if target_id is None or not payload:
        raise InvalidInput("payload: a conversation, and its title or `archived` are expected.")
    return await conversations.change(
        target_id,
        title=payload.get("title"),
        archived=payload.get("archived"),
        version=None if version is None else str(version),
    )
