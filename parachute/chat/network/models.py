"""A host that a conversation asked for, and the owner's decision about one."""

from typing import Any, Literal

from msgspec import Struct, to_builtins

from parachute.sandbox.egress.hosts import DEFAULT_PORTS
from parachute.sandbox.egress.models import Target

Choice = Literal["always", "never"]


class Decision(Struct, frozen=True):
    """Decision of the owner about a host, for a workspace or with `workspace` empty for all chats without one."""

    workspace: str
    host: str
    choice: Choice
    decided_by: str
    decided_at: str

    def as_json(self) -> dict[str, Any]:
        """The form of the API."""
        return {**to_builtins(self), "workspace": self.workspace or None}


class Asked(Struct, frozen=True):
    """A host that waits for a decision; `source` is the conversation or the workspace that asked first, at `since`."""

    workspace: str
    host: str
    session: str
    source: str
    since: str


def entry_of(target: Target) -> str:
    """The entry of a list of hosts that would allow a target: no port stands for 443 and 80."""
    return str(target).rpartition(":")[0] if target.port in DEFAULT_PORTS else str(target)
