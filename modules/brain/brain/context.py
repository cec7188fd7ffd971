"""Knowledge about a topic for an agent, as text within a budget."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from parachute.core import ParachuteError
from parachute.core.files import Files
from parachute.core.interfaces import JournalEntry, JournalInterface

from . import graph
from .entity import Entity
from .found import Found
from .resolving import SURE
from .service import Brain

TOKENS = 2_000
MOST_TOKENS = 100_000

_CHARACTERS = 4
"""Of a token, about."""
_SHARE_OF_ONE = 0.6
_WORDS_OF_A_TOPIC = 4
_MOST_ENTITIES, _MOST_NEIGHBOURS, _MOST_ENTRIES, _LONGEST_ENTRY = 3, 12, 5, 600


@dataclass(frozen=True, slots=True)
class Gathered:
    """The text, the entities and journal entries it was made from, and whether something did not fit."""

    text: str
    entities: list[Found]
    entries: list[JournalEntry]
    truncated: bool
    instructions: list[str]
    """Folders of projects' instructions; most of them only the computer itself can read."""


class _Budget:
    def __init__(self, characters: int) -> None:
        self.left = characters
        self.parts: list[str] = []
        self.truncated = False

    def add(self, text: str, most: int | None = None) -> bool:
        """Add a part, shortened at a line's end if it does not fit; whether anything of it did."""
        room = min(self.left, most if most is not None else self.left)
        if len(text) > room:
            self.truncated = True
            cut = text.rfind("\n", 0, max(room - 2, 0))
            text = text[: cut if cut > room // 2 else max(room - 2, 0)].rstrip() + " …" if room > 80 else ""
        if text:
            self.parts.append(text)
            self.left -= len(text) + 2
        return bool(text)


async def gather(
    brain: Brain, files: Files | None, journal: JournalInterface | None, topic: str, tokens: int = TOKENS
) -> Gathered:
    """About the entities that a topic, or a whole message, names: their files, neighbours, journal entries and projects.

    Without `files`, the instructions of projects are only named.
    """
    budget = _Budget(tokens * _CHARACTERS)
    entities = await _about(brain, topic)
    told: dict[str, JournalEntry] = {}
    for entity in entities:
        entries = await _entries(brain, journal, entity)
        async for part, most in _parts(brain, files, entity, entries, budget.left):
            budget.add(part, most)
        told |= {entry.id: entry for entry in entries}
    instructions = [path for entity in entities for path in _instructions(entity)]
    return Gathered(
        "\n\n".join(budget.parts), entities, list(told.values()), budget.truncated, list(dict.fromkeys(instructions))
    )


def _instructions(found: Found) -> list[str]:
    """Paths at which the instructions of a project may be."""
    named, folder = found.fields.get("agents_path"), found.fields.get("work_path")
    if isinstance(named, str) and named:
        return [named]
    if isinstance(folder, str) and folder and not named:
        return [f"{folder.rstrip('/')}/{name}" for name in ("AGENTS.md", "CLAUDE.md")]
    return []


async def _about(brain: Brain, topic: str) -> list[Found]:
    candidates = [entity for entity, match in await brain.resolve(topic, 1) if match.confidence >= SURE]
    if not candidates:
        mentioned = await brain.suggest(topic[:20_000])
        candidates = [entity for entry, entity in mentioned if entity is not None and entry.confidence >= SURE]
    if not candidates and len(topic.split()) <= _WORDS_OF_A_TOPIC:
        candidates = [entity for entity, _ in await brain.search(topic, None, 1)]
    return candidates[:_MOST_ENTITIES]


async def _parts(
    brain: Brain, files: Files | None, found: Found, entries: list[JournalEntry], left: int
) -> AsyncIterator[tuple[str, int | None]]:
    try:
        _, entity = await brain.editing.opened(found.para_id)
    except ParachuteError:
        return  # gone or broken at this moment
    yield _described(found, entity), int(left * _SHARE_OF_ONE)
    edges = await brain.edges(found)
    if lines := [_neighbour(edge, other) for edge, other in edges[:_MOST_NEIGHBOURS] if other is not None]:
        yield "\n".join([f"### Related to {found.name}", *dict.fromkeys(lines)]), left // 4
    if entries:
        yield "\n\n".join([f"### Journal entries about {found.name}", *map(_entry, entries)]), left // 3
    async for part in _project(files, found):
        yield part, left // 3


def _described(found: Found, entity: Entity) -> str:
    lines = [f"## {found.name} ({found.type})" if found.type else f"## {found.name}", f"File: {found.path}"]
    if entity.aliases:
        lines.append(f"Also called: {', '.join(entity.aliases)}")
    if entity.tags:
        lines.append(f"Tags: {', '.join(entity.tags)}")
    for name, value in entity.fields.items():
        if isinstance(value, str | int | float) and name not in ("name", "title", "legacy_id"):
            lines.append(f"{name}: {value}")
    return "\n".join(lines) + (f"\n\n{entity.text}" if entity.text else "")


def _neighbour(edge: graph.Edge, other: Found) -> str:
    kind = f" ({', '.join(filter(None, (other.type, other.path)))})"
    about = edge.note if edge.direction == "out" and edge.note else other.summary[:160]
    return f"- {other.name}{kind}{': ' + about if about else ''}"


async def _entries(brain: Brain, journal: JournalInterface | None, found: Found) -> list[JournalEntry]:
    """Entries that were linked to an entity, and others that name it; none while the journal cannot be asked."""
    if journal is None:
        return []
    entries: dict[str, JournalEntry] = {}
    try:
        for mention in await brain.ask(graph.mentions, found.para_id, _MOST_ENTRIES * 2):
            if mention.source_id.startswith("para:") and not mention.source_id.startswith("para:daily:"):
                continue
            entry = await journal.get(mention.source_id)
            if entry is not None:
                entries[entry.id] = entry
        if len(entries) < _MOST_ENTRIES:
            for entry in await journal.search(found.name, limit=_MOST_ENTRIES):
                entries.setdefault(entry.id, entry)
    except ParachuteError:
        pass  # Brain answers with what it has
    newest = sorted(entries.values(), key=lambda entry: (entry.date, entry.time or ""), reverse=True)
    return newest[:_MOST_ENTRIES]


def _entry(entry: JournalEntry) -> str:
    # An entry that was given no title has its time in the place of one.
    head = " ".join(dict.fromkeys(part for part in (entry.date, entry.time, entry.title) if part))
    text = entry.content if len(entry.content) <= _LONGEST_ENTRY else f"{entry.content[:_LONGEST_ENTRY].rstrip()} …"
    return f"{head} ({entry.path})\n{text}" if entry.path else f"{head}\n{text}"


async def _project(files: Files | None, found: Found) -> AsyncIterator[str]:
    for path in _instructions(found):
        try:
            text = await files.read(path) if files is not None else None
        except ParachuteError:
            text = None
        if text is not None:
            yield f"### {path}\n\n{text.strip()}"
        elif path == found.fields.get("agents_path"):
            # Outside of the vault, or not there: who works on the project reads it from there.
            yield f"Instructions for agents that work on {found.name}: {path}"
