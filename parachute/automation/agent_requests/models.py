"""A run of a module's agent that waits for the owner's word, and what became of it."""

import hashlib
import json
import secrets
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct, field, to_builtins

from parachute.automation.module_agents.profile import agent_of
from parachute.base.clock import as_text, now
from parachute.base.errors import Conflict
from parachute.modules.manifest.consents import agent_consent
from parachute.modules.runtime.models import ApprovedModule

Status = Literal["waiting", "running", "completed", "failed", "refused", "expired"]


class WaitsForOwner(Conflict):
    """The run has not ended yet: the owner has to say yes, or has said it and the agent is at work."""

    key = "waits_for_owner"


class AgentRequest(Struct, eq=False):
    """One run; `until` is when waiting for it, or keeping what became of it, ends (seconds since 1970).

    `session_id` goes on with a session of the same agent, `session` is the one in which it ran.
    """

    module: ApprovedModule
    agent: str
    prompt: str
    until: float
    session_id: str | None = None
    mcp_servers: tuple[str, ...] | None = None
    by_owner: bool = False
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    since: str = field(default_factory=now)
    status: Status = "waiting"
    session: str | None = None
    text: str = ""
    error: str | None = None
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The first or last event of each kind that tells who reads late how it went."""
    deadline: str = ""

    def __post_init__(self) -> None:
        """Fix the deadline that is shown, whatever becomes of `until`."""
        self.deadline = as_text(datetime.fromtimestamp(self.until, UTC))

    @property
    def is_direct(self) -> bool:
        """True if it would run with the owner's own rights."""
        return agent_of(self.module, self.agent).sandbox is None

    @property
    def details(self) -> dict[str, Any]:
        """Return the details for the owner: the question, the agent, and its rights in this run."""
        module = self.module
        tools = [name for name in module.manifest.permissions.mcp if not name.startswith("mcp__")]
        rights = to_builtins(agent_consent(self.agent, agent_of(module, self.agent)))
        rights.pop("name")
        return {
            "request": self.id,
            "module": module.name,
            "module_hash": module.hash,
            "trust_level": str(module.trust),
            "agent": self.agent,
            "prompt": self.prompt,
            "session_id": self.session_id,
            **rights,
            "module_tools": list(self.mcp_servers) if self.mcp_servers is not None else tools,
            "asked_by": "owner" if self.by_owner else "module",
            "until": self.deadline,
        }


def fingerprint(
    module: ApprovedModule, agent: str, prompt: str, session_id: str | None, mcp_servers: tuple[str, ...] | None
) -> str:
    """Return the hash by which two requests of a module are the same."""
    asked = [module.name, module.hash, agent, prompt, session_id, mcp_servers]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
