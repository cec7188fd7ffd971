"""A repository that a conversation asked for, and the owner's decision about one."""

from typing import Any, Literal

from msgspec import Struct, to_builtins

from parachute.sandbox.git.models import Access, Repository

Choice = Literal["always", "never"]


class Decision(Struct, frozen=True):
    """Decision of the owner about one access to a repository, for a workspace or with `workspace` empty for all chats without one."""

    workspace: str
    repository: Repository
    access: Access
    choice: Choice
    decided_by: str
    decided_at: str

    def as_json(self) -> dict[str, Any]:
        """The form of the API."""
        return {**to_builtins(self), "workspace": self.workspace or None, "repository": str(self.repository)}


class Asked(Struct, frozen=True):
    """A repository that waits for a decision; `source` is the conversation or the workspace that asked first, at `since`."""

    workspace: str
    repository: Repository
    access: Access
    session: str
    source: str
    since: str
