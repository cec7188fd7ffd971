"""Conversations: what agents know in them, what is proposed after them, and how other modules reach them."""

from dataclasses import asdict
from typing import Any

from changes import ConversationChange, changed, check, preview, undo
from knowledge import Knowledge
from updates import Updates

from parachute.core import Event, Module, NotFound, Preview, event, mcp_tool
from parachute.core.interfaces import Context, Conversation, Message

_CHAT_BUDGET = 12_000


class ChatModule(Module):
    """The official Chat module."""

    name = "chat"
    version = "1.0.0"
    description = "Conversations that know your people, projects and journal"
    provides = ("ConversationInterface", "ContextInterface")
    optional_requires = ("BrainInterface", "JournalInterface")
    accepts = {"update": ConversationChange}

    def __init__(self) -> None:
        self.knowledge = Knowledge(self)
        self.updates = Updates(self)

    @mcp_tool("chat-sessions", read_only=True)
    async def find_sessions(self, topic: str = "", limit: int = 10) -> list[dict[str, Any]]:
        """Find earlier conversations by their words, newest first.

        Args:
            topic: Words that occur in the conversation; all conversations if there are none.
            limit: How many at the most.
        """
        found = await self.get_sessions(topic or None, min(max(limit, 1), 50))
        names = ("id", "para_id", "title", "updated_at")
        return [{name: getattr(each, name) for name in names} for each in found]

    @mcp_tool("chat-context", read_only=True)
    async def tell_context(self, topic: str) -> str:
        """Return what is known about a person, a project or a topic, from Brain and the journal.

        Args:
            topic: A name, or a sentence that mentions some.
        """
        return (await self.knowledge.about(topic, _CHAT_BUDGET)).text or f"Nothing is known about {topic[:200]}."

    @event("session.start")
    async def on_start_of_session(self, session_id: str) -> None:
        """Tell other modules of a new conversation."""
        await self.core.publish("chat.session.created", {"session_id": session_id})

    @event("session.message")
    async def on_message(self, session_id: str, message_count: int = 0) -> None:
        """Tell other modules that a message was answered."""
        await self.core.publish("chat.session.message", {"session_id": session_id, "message_count": message_count})

    @event("session.end")
    async def on_end_of_session(self, whole: Event, session_id: str, message_count: int = 0) -> None:
        """Have an agent propose what to write down; it never writes itself."""
        await self.updates.propose(session_id, message_count)

    async def resolve_para_id(self, para_id: str) -> dict[str, Any] | None:
        """The conversation with a para-id."""
        try:
            return asdict(await self.core.conversations.get(para_id))
        except NotFound:
            return None

    async def check_suggestion(self, action: str, target_id: str | None, payload: dict[str, Any]) -> None:
        """Raise what stands against a change that is proposed."""
        check(target_id, payload)

    async def apply_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], expected_version: str | int | None
    ) -> dict[str, Any]:
        """Make a change that the user approved."""
        return asdict(await changed(self.core.conversations, target_id, payload, expected_version))

    async def preview_suggestion(self, action: str, target_id: str | None, payload: dict[str, Any]) -> Preview:
        """A conversation before a change and after it."""
        return await preview(self.core.conversations, target_id, payload)

    async def undo_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], keep: Any, result: Any
    ) -> None:
        """Take a change back that was applied."""
        await undo(self.core.conversations, target_id, keep, result)

    async def applied_suggestion(
        self,
        suggestion_id: str,
        action: str,
        target_id: str | None,
        payload: dict[str, Any],
        expected_version: str | int | None,
    ) -> dict[str, Any] | None:
        """The conversation, if it is as the change makes it."""
        found = asdict(await self.core.conversations.get(str(target_id)))
        return found if all(found[name] == value for name, value in payload.items()) else None

    # ContextInterface

    async def context_for(self, message: str, session_id: str, budget: int) -> Context:
        """Knowledge of a message's subjects, unless the user does not want it."""
        if not await self.core.settings.get("knowledge"):
            return Context("")
        return await self.knowledge.about(message, budget)

    # ConversationInterface

    async def get_sessions(self, topic: str | None = None, limit: int = 20) -> list[Conversation]:
        """Sessions, newest first; those about a topic if one is given."""
        return await self.core.conversations.search(topic, limit)

    async def get_messages(self, session_id: str, limit: int = 50) -> list[Message]:
        """The newest messages of a session, oldest first."""
        return await self.core.conversations.messages(session_id, limit)

    async def send_message(self, session_id: str, content: str, source: str = "") -> Message:
        """Send a message and wait for the whole answer."""
        return await self.core.conversations.send(session_id, content)
