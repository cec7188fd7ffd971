"""A repository that a conversation asked for, and the owner's decision about one."""

from typing import Literal

from msgspec import Struct

from parachute.base.answers import Answer
from parachute.sandbox.git.models import Access, Repository

Choice = Literal["always", "never"]


class DecidedRepository(Answer, frozen=True):
    """A repository about which the owner has decided one access, for a workspace or, with None, for all chats that are in none."""

    workspace: str | None
    repository: str
    access: Access
    choice: Choice
    decided_by: str
    decided_at: str


class Asked(Struct, frozen=True):
    """A repository that waits for a decision; `source` is the conversation or the workspace that asked first, at `since`."""

    workspace: str
    repository: Repository
    access: Access
    session: str
    source: str
    since: str
