"""A host that a conversation asked for, and the owner's decision about one."""

from typing import Literal

from msgspec import Struct

from parachute.base.answers import Answer
from parachute.sandbox.egress.hosts import DEFAULT_PORTS
from parachute.sandbox.egress.models import Target

Choice = Literal["always", "never"]


class DecidedHost(Answer, frozen=True):
    """A host about which the owner has decided, for a workspace or, with None, for all chats that are in none."""

    workspace: str | None
    host: str
    choice: Choice
    decided_by: str
    decided_at: str


class RefusedHost(Answer, frozen=True):
    """A host that was refused in a turn, and what has become of it: it `waits` for the owner, or was decided about.

    `refused` is one that nobody is asked about any more, such as after a restart.
    """

    host: str
    workspace: str | None
    state: Literal["waits", "once", "always", "never", "refused"]


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
