"""Changes of conversations that somebody proposed and the user approved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from parachute.core import Conflict, InvalidInput, Preview
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
        raise InvalidInput(
            f"payload: `archived` or a title of 1 to {LONGEST_TITLE} characters is expected.", key="payload_invalid"
        )
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


async def preview(conversations: Conversations, target_id: str | None, payload: Mapping[str, Any]) -> Preview:
    """A conversation before a change and after it; errors: those of the change."""
    found = await conversations.get(check(target_id, payload))
    title, archived = payload.get("title", found.title), payload.get("archived", found.archived)
    keep = {name: getattr(found, name) for name in payload}
    return Preview(found.title, _shown(found.title, found.archived), _shown(title, archived), keep)


async def undo(conversations: Conversations, target_id: str | None, keep: Mapping[str, Any], result: Any) -> None:
    """Take a change back; error: Conflict when the conversation was changed since."""
    found = await conversations.get(str(target_id))
    if all(getattr(found, name) == value for name, value in keep.items()):
        return
    if not isinstance(result, Mapping) or found.version != result.get("version"):
        raise Conflict(
            "The conversation has changed since.",
            "Reload it and look at the current state.",
            key="conversation_changed",
        )
    await conversations.change(
        found.para_id, title=keep.get("title"), archived=keep.get("archived"), version=found.version
    )


def _shown(title: str, archived: bool) -> str:
    return f"Title: {title}\nPut away: {'yes' if archived else 'no'}\n"
