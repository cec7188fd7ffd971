"""Changes of conversations that somebody proposed and the user approved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from parachute.core import InvalidInput
from parachute.core.conversations import Conversations
from parachute.core.interfaces import Conversation

LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class ConversationChange:
    """A change of a conversation; what is left out stays."""

    title: str = ""
    archived: Annotated[bool, "true puts it away, false takes it back"] = False


def check(target_id: str | None, payload: Mapping[str, Any]) -> str:
    """Return the target of a change; error: InvalidInput for one that changes nothing."""
    title = payload.get("title", "a title")
    if target_id is None or not payload or not 0 < len(title.strip()) <= LONGEST_TITLE:
        raise InvalidInput(f"payload: `archived` or a title of 1 to {LONGEST_TITLE} characters is expected.")
    return target_id


async def changed(
    conversations: Conversations, target_id: str | None, payload: Mapping[str, Any], version: str | int | None
) -> Conversation:
    """Make a change; errors: InvalidInput, NotFound, Conflict when the conversation has changed."""
    return await conversations.change(
        check(target_id, payload),
        title=payload.get("title"),
        archived=payload.get("archived"),
        version=None if version is None else str(version),
    )
