"""Interfaces that modules publish for each other, and what their methods return.

A module that provides one has these methods; a module that uses one asks `self.get_interface(name)`. Arguments and results
travel as JSON between two processes and are checked against these signatures on both sides.
"""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, get_type_hints


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, project, topic or the like that Brain knows; `score` says how well it fits a search, from 0 to 1."""

    para_id: str
    name: str
    type: str = ""
    aliases: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    path: str | None = None
    snippet: str | None = None
    content: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a text that may name an entity; without `para_id` it would be a new one.

    `news` is the sentence of the text that tells something new of it, if there is one.
    """

    text: str
    confidence: float
    para_id: str | None = None
    name: str | None = None
    type: str | None = None
    news: str | None = None


@dataclass(frozen=True, slots=True)
class EntityType:
    """A kind of entity, with the names of its fields."""

    name: str
    fields: list[str] = field(default_factory=list)
    icon: str | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Context about a topic for an agent: ready text, and the entities it was made from.

    `instructions` are files AGENTS.md or CLAUDE.md of projects, within the vault or beginning with `~/` or `/`. The computer adds
    those that lie in a folder in which the user lets agents work.
    """

    text: str
    entities: list[Entity] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An entry of the journal; `date` is YYYY-MM-DD, `time` HH:MM or nothing, `path` within the vault."""

    id: str
    date: str
    content: str
    title: str = ""
    time: str | None = None
    path: str | None = None
    audio_path: str | None = None


@dataclass(frozen=True, slots=True)
class BroughtEntry:
    """An entry from elsewhere, with the id that it has whenever it comes; `fields` stand in the front matter."""

    id: str
    date: str
    content: str = ""
    title: str = ""
    time: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placed:
    """Outcome of an entry that was brought: `new`, `same`, `changed_entries` or `days_full`; `version` is that of its text."""

    outcome: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A chat session; `version` is another one when its title or its place is."""

    id: str
    title: str = ""
    updated_at: str | None = None
    message_count: int = 0
    archived: bool = False
    para_id: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["user", "assistant"]
    content: str
    timestamp: str | None = None


class BrainInterface(Protocol):
    """The user's knowledge about people, projects and topics."""

    version: ClassVar[str] = "1.0"

    async def search(self, query: str, type: str | None = None, limit: int = 20) -> list[Entity]:
        """Find entities by words."""

    async def resolve(self, text: str) -> str | None:
        """The para-id of the entity that a text names, by its name or an alias."""

    async def get(self, para_id: str) -> Entity | None:
        """An entity with its content."""

    async def link(self, source_id: str, para_id: str, confidence: float = 1.0) -> None:
        """Note that something, such as a journal entry, is about an entity; how sure that is, from 0 to 1, is told with it."""

    async def suggest(self, text: str) -> list[Mention]:
        """Entities that a text mentions or might add."""

    async def types(self) -> list[EntityType]:
        """All kinds of entities."""

    async def context(self, topic: str) -> Context:
        """Context about a topic for an agent."""


class JournalInterface(Protocol):
    """The user's journal."""

    version: ClassVar[str] = "1.0"

    async def get_recent_entries(self, limit: int = 10) -> list[JournalEntry]:
        """The newest entries, newest first."""

    async def search(self, query: str, date_from: str | None = None, limit: int = 20) -> list[JournalEntry]:
        """Find entries by words."""

    async def get(self, entry_id: str) -> JournalEntry | None:
        """One entry."""

    async def entries_of(self, date: str) -> list[JournalEntry]:
        """All entries of a day."""

    async def create(self, content: str, title: str = "", date: str | None = None) -> JournalEntry:
        """Write an entry, for today unless a date is given."""

    async def transcribed(self, entry_id: str, text: str, language: str | None = None, replaced: str = "") -> bool:
        """Write what was said in an entry's recording as its text, where that is still empty or the `replaced` one.

        True if the entry has the text now; False, and nothing is changed, where it has another, or there is no such entry.
        """

    async def bring(self, entries: list[BroughtEntry], only_looking: bool = False) -> list[Placed]:
        """Write entries that come from elsewhere, at their time of their day; what is there stays as it is, and nothing is published."""

    async def take_back(self, versions: dict[str, str]) -> list[str]:
        """Take entries out, by their ids, that have these versions or none is known of; the ids of those that stay."""


class ConversationInterface(Protocol):
    """The user's chat sessions."""

    version: ClassVar[str] = "1.0"

    async def get_sessions(self, topic: str | None = None, limit: int = 20) -> list[Conversation]:
        """Sessions, newest first; those about a topic if one is given."""

    async def get_messages(self, session_id: str, limit: int = 50) -> list[Message]:
        """The newest messages of a session, oldest first."""

    async def send_message(self, session_id: str, content: str, source: str = "") -> Message:
        """Send a message and wait for the whole answer."""


class ContextInterface(Protocol):
    """Context for agents about the things that a message mentions; the server asks before each turn of a chat."""

    version: ClassVar[str] = "1.0"

    async def context_for(self, message: str, session_id: str, budget: int) -> Context:
        """Context about a message's subjects, in at most `budget` characters; its entities name the sources."""


KNOWN: dict[str, type[Any]] = {
    "ContextInterface": ContextInterface,
    "BrainInterface": BrainInterface,
    "JournalInterface": JournalInterface,
    "ConversationInterface": ConversationInterface,
}


def methods_of(protocol: type[Any]) -> dict[str, Any]:
    """The methods that an interface consists of, by name."""
    return {
        name: value
        for base in reversed(protocol.__mro__[:-1])
        if base.__module__ != "typing"
        for name, value in vars(base).items()
        if callable(value) and not name.startswith("_")
    }


def differs(method: Any, names: Iterable[str], required: Iterable[str], *, rest: bool) -> str:
    """A part of a sentence if a function with these parameters cannot stand for a method of an interface; else empty.

    `required` are those without a default, `rest` says that it takes `**fields`.
    """
    expected, own = list(inspect.signature(method).parameters)[1:], list(names)
    missing = [name for name in expected if name not in own and not rest]
    extra = [name for name in required if name not in expected]
    if not missing and not extra:
        return ""
    return f"must take ({', '.join(expected)}); it differs in {', '.join(missing + extra)}"


def result_of(method: Any) -> Any:
    """The type that a method of an interface returns."""
    return get_type_hints(method, include_extras=True).get("return", Any)
