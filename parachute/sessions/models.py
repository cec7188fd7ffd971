"""A session as it is stored and as the app reads it."""

import json
from dataclasses import dataclass, field
from typing import Any

from parachute.sessions.trust import TrustLevel

SOURCES = ("parachute", "chatgpt", "claude", "telegram", "discord", "matrix", "claude-code")
BOT_SOURCES = ("telegram", "discord", "matrix")


@dataclass(slots=True)
class Session:
    """One conversation; times are ISO 8601 in UTC, `working_directory` is relative to the vault when inside it.

    `trust_level` is what was asked for and approved, `effective_execution_mode` how the last run really ran. `model` is set
    only if somebody chose one.
    """

    id: str
    created_at: str
    updated_at: str
    title: str | None = None
    agent_path: str | None = None
    agent_name: str | None = None
    agent_type: str | None = None
    message_count: int = 0
    archived: bool = False
    source: str = "parachute"
    continued_from: str | None = None
    original_id: str | None = None
    working_directory: str | None = None
    trust_level: TrustLevel = "sandboxed"
    effective_execution_mode: str | None = None
    linked_bot_platform: str | None = None
    linked_bot_chat_id: str | None = None
    linked_bot_chat_type: str | None = None
    workspace_id: str | None = None
    model: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def from_outside(self) -> bool:
        """Whether people other than the owner talk to it."""
        return self.source in BOT_SOURCES or self.linked_bot_platform is not None

    def as_json(self) -> dict[str, Any]:
        """The app's form of a session (contract, section 2)."""
        return {
            "id": self.id,
            "title": self.title,
            "agentPath": self.agent_path,
            "agentName": self.agent_name,
            "agentType": self.agent_type,
            "createdAt": self.created_at,
            "updatedAt": self.updated_at,
            "messageCount": self.message_count,
            "archived": self.archived,
            "source": self.source,
            "continuedFrom": self.continued_from,
            "originalId": self.original_id,
            "workingDirectory": self.working_directory,
            "trustLevel": self.trust_level,
            "effectiveExecutionMode": self.effective_execution_mode,
            "linkedBotPlatform": self.linked_bot_platform,
            "linkedBotChatId": self.linked_bot_chat_id,
            "linkedBotChatType": self.linked_bot_chat_type,
            "workspaceId": self.workspace_id,
            "model": self.model,
            "metadata": self.metadata,
        }

    def summary(self) -> str:
        """`as_json` as text: the projection that lists are made of, so that no list builds it anew."""
        return json.dumps(self.as_json(), ensure_ascii=False, separators=(",", ":"))
