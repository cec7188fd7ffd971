"""A session as it is stored and as the app reads it."""

import copy
import dataclasses
import hashlib
import json
import re
from abc import ABC, abstractmethod
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from parachute.base.answers import Answer
from parachute.base.messengers import MESSENGERS
from parachute.core.para_id import ParaId
from parachute.llm.meaning.searched import Searched
from parachute.security.trust_levels import TrustLevel

LONGEST_TITLE = 200
"""Characters of a title that somebody gives a conversation."""

SHORT_TITLE = 80
"""Characters of a title that is made of a conversation's first words."""

MODULE = "module"
"""The key of a session's metadata that names the module which made it."""

BRANCH = "branch"
"""The key of a session's metadata that says where it branched off."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_session_id(text: str) -> bool:
    """Return True if a text can be the id of a session: ids become names of files, and rows may come from another machine."""
    return _ID.fullmatch(text) is not None


def para_id_of(session: str) -> str:
    """The para-id of a session: the Chat module answers for conversations."""
    return str(ParaId.of("chat", session))


class AppListener(ABC):
    """Is called when an app lists conversations."""

    @abstractmethod
    def app_seen(self) -> None:
        """Prepare for what the app may ask next."""


class Owner(Struct, frozen=True):
    """The module that made a session, and the agent of its manifest that answers in it; empty for the default one."""

    module: str
    agent: str


class SessionPlace(Struct, frozen=True):
    """The place at which a session was begun on this machine: its folder, and the messenger from which it is."""

    folder: str | None
    outside: str | None


class Branch(Struct, frozen=True):
    """A session that began with a copy of another one of its family, in which `message` stands in the place of `replaced`.

    The family has the id of the session that all of it comes from; `is_again`: both messages have the same words.
    """

    family: str
    replaced: str
    message: str
    is_again: bool = False


@dataclasses.dataclass(slots=True)
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
    pinned: bool = False
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
    metadata: dict[str, Any] = dataclasses.field(default_factory=dict)
    stored: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False, compare=False)
    """The columns as they were read; what differs from it is what this copy has changed."""
    claimed_directory: str | None = dataclasses.field(default=None, repr=False, compare=False)
    """A folder that the vault says it has, and that nobody chose for it on this machine."""

    def columns(self) -> dict[str, Any]:
        """All that is stored of a session, by column."""
        return {name: getattr(self, name) for name in COLUMNS}

    def remember(self) -> "Session":
        """Take the present values as those that are stored; returns itself."""
        self.stored = copy.deepcopy(self.columns())
        return self

    def put_changes(self, other: "Session") -> None:
        """Make in `other` the changes that this copy has made since it was read, and no others; metadata by its keys."""
        for name, value in self.columns().items():
            before = self.stored.get(name)
            if name == "metadata":
                before = before or {}
                for key in before.keys() - value.keys():
                    other.metadata.pop(key, None)
                other.metadata.update({key: kept for key, kept in value.items() if before.get(key, _ABSENT) != kept})
            elif value != before:
                setattr(other, name, value)

    @property
    def outside(self) -> str | None:
        """The messenger whose people talk to it."""
        return self.linked_bot_platform or (self.source if self.source in MESSENGERS else None)

    @property
    def label_of_module(self) -> str | None:
        """The module whose session this is, as the vault says: enough to keep people out, never to let a module in."""
        label = self.metadata.get(MODULE)
        return None if label is None else str(label)

    @property
    def branch(self) -> Branch | None:
        """The place at which it branched off, of one that began with a copy of another."""
        try:
            return msgspec.convert(self.metadata.get(BRANCH), Branch | None)
        except msgspec.ValidationError:
            return None

    @property
    def family(self) -> str:
        """The session from which all branches come that this one is related to."""
        return self.branch.family if self.branch else self.id

    @property
    def version(self) -> str:
        """Another text when the title or the place of the session is another one."""
        shown = json.dumps([self.title, self.archived])
        return hashlib.sha256(shown.encode()).hexdigest()[:16]

    @property
    def from_outside(self) -> bool:
        """True if people other than the owner talk to it."""
        return self.outside is not None

    @property
    def para_id(self) -> str:
        """The name by which modules point to it."""
        return para_id_of(self.id)

    def summary(self) -> str:
        """The app's form as text: the projection that lists are made of, so that no list builds it anew."""
        return msgspec.json.encode(ShownSession.showing(self)).decode()


class ShownSession(Answer, frozen=True, rename="camel"):
    """A session as the app reads it (contract, section 2)."""

    id: str
    para_id: str
    title: str | None
    agent_path: str | None
    agent_name: str | None
    agent_type: str | None
    created_at: str
    updated_at: str
    message_count: int
    archived: bool
    pinned: bool
    source: str
    continued_from: str | None
    original_id: str | None
    working_directory: str | None
    trust_level: str
    effective_execution_mode: str | None
    linked_bot_platform: str | None
    linked_bot_chat_id: str | None
    linked_bot_chat_type: str | None
    workspace_id: str | None
    model: str | None
    metadata: dict[str, Any]


class ListedSession(ShownSession, frozen=True, omit_defaults=True):
    """A session in a list; `found_by` says how a search found it, `passage` is the newest place that has its words.

    `versions` are the older ones of its family, which a folded list leaves out.
    """

    found_by: Literal["words", "meaning"] | None = field(default=None, name="found_by")
    passage: str | None = None
    versions: list[str] | None = None


class SessionPage(Answer, frozen=True):
    """Sessions, the newest first; `searched` is what a search looked through."""

    sessions: list[ListedSession]
    searched: Searched | None = None


class OneSession(Answer, frozen=True):
    """One session."""

    session: ShownSession


_ABSENT = object()
_OF_THIS_COPY = ("stored", "claimed_directory")

COLUMNS = tuple(column.name for column in dataclasses.fields(Session) if column.name not in _OF_THIS_COPY)
