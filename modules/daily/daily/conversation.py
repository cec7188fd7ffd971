"""A conversation about the journal: an agent answers from entries that it looks up."""

from collections.abc import AsyncIterator
from typing import Any

from parachute.core import InvalidInput, route
from parachute.core.services import Core

_AGENT = "reader"
_TOOLS = ("daily-search", "daily-today", "brain-resolve", "brain-context")
_LONGEST = 20_000


class ConversationRoutes:
    """Asking; the agent has no files, no network and no tool that writes."""

    core: Core

    @route("POST", "/query")
    async def query(self, message: str, session_id: str | None = None) -> AsyncIterator[dict[str, Any]]:
        """Stream an answer about the journal, as `POST /api/chat` streams; `session_id` goes on with an earlier one. It ends with its reader."""
        if not message.strip() or len(message) > _LONGEST:
            raise InvalidInput(f"message: 1 to {_LONGEST:,} characters are allowed.", key="message_length")
        async for event in self.core.query(message, session_id=session_id, agent=_AGENT, mcp_servers=_TOOLS):
            yield event
