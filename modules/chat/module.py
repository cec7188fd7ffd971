"""Conversations: what agents know in them, what is proposed after them, and how other modules reach them."""

from typing import Any

from knowledge import Knowledge
from updates import Updates

from parachute.core import Event, Module, event, mcp_tool
from parachute.core.interfaces import Context, Conversation, Message

_CHAT_BUDGET = 12_000


class ChatModule(Module):
    """The official Chat module."""

    name = "chat"
    version = "1.0.0"
    description = "Conversations that know your people, projects and journal"
    provides = ("ConversationInterface", "ContextInterface")
    optional_requires = ("BrainInterface", "JournalInterface")

    def __init__(self) -> None:
        self.knowledge = Knowledge(self)
        self.updates = Updates(self)

    @mcp_tool("chat-sessions")
    async def find_sessions(self, topic: str = "", limit: int = 10) -> list[dict[str, Any]]:
        """Find earlier conversations by their words, newest first.

        Args:
            topic: Words that occur in the conversation; all conversations if there are none.
            limit: How many at the most.
        """
        found = await self.get_sessions(topic or None, min(max(limit, 1), 50))
        return [{"id": each.id, "title": each.title, "updated_at": each.updated_at} for each in found]

    @mcp_tool("chat-context")
    async def tell_context(self, topic: str) -> str:
        """What is known about a person, a project or a topic, from Brain and the journal.

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
