"""Rights to the user's own data that interfaces give a module, and the permission that each method needs."""

from collections.abc import Mapping
from typing import Literal

from parachute.modules.manifest.models import Manifest

Level = Literal["none", "read", "write"]

_LEVELS: tuple[Level, ...] = ("none", "read", "write")
_READING: Mapping[str, frozenset[str]] = {
    "BrainInterface": frozenset({"search", "resolve", "get", "suggest", "types", "context"}),
    "JournalInterface": frozenset({"get_recent_entries", "search", "get", "entries_of"}),
    "ConversationInterface": frozenset({"get_sessions", "get_messages"}),
    "ContextInterface": frozenset({"context_for"}),
}
"""The methods that change nothing; every other one, and all of interfaces that are not listed, may write."""

_CORES: Mapping[str, frozenset[str]] = {"JournalInterface": frozenset({"bring", "take_back"})}
"""The methods that no permission covers: imports and their undo, which core itself asks for."""

_WORDS: Mapping[tuple[str, Level], str] = {
    (
        "BrainInterface",
        "write",
    ): "Read all that Brain knows, with journal entries about it, and note what else is about it",
    ("JournalInterface", "read"): "Read all of your journal",
    ("JournalInterface", "write"): "Read all of your journal, and write entries into it",
    ("ConversationInterface", "read"): "Read all of your conversations",
    ("ConversationInterface", "write"): "Read all of your conversations, and send messages in those that are sandboxed",
}
_MISSING: Mapping[str, str] = {
    "ConversationInterface": "`conversations: read` or `write` is missing under permissions, so it gets none",
    "ContextInterface": "only the computer itself asks for it",
}


def level_of(manifest: Manifest, interface: str) -> Level:
    """Return the level at which a module may use an interface: that of its manifest, to which the user agreed."""
    if all(wanted.name != interface for wanted in manifest.optional_requires):
        return "none"
    match interface:
        case "ContextInterface":
            return "none"
        case "ConversationInterface":
            return manifest.permissions.conversations
        case "JournalInterface":
            return manifest.permissions.journal
    return "write"


def is_writing(interface: str, method: str) -> bool:
    """True if a method may change something, or keep what it is told."""
    return method not in _READING.get(interface, frozenset())


def is_cores(interface: str, method: str) -> bool:
    """True if only core itself may call a method."""
    return method in _CORES.get(interface, frozenset())


def is_allowed(manifest: Manifest, interface: str, method: str) -> bool:
    """True if a module may call a method of another one."""
    if is_cores(interface, method):
        return False
    needed: Level = "write" if is_writing(interface, method) else "read"
    return _LEVELS.index(level_of(manifest, interface)) >= _LEVELS.index(needed)


def in_words(interface: str, level: Level) -> str:
    """Return the line of the consent about an interface; empty if it gives nothing."""
    if level == "none":
        return ""
    return _WORDS.get((interface, level), f"Use all that other modules offer as {interface}")


def without_permission(manifest: Manifest) -> tuple[str, ...]:
    """A line for each interface that the manifest names and that gives nothing, with the reason."""
    return tuple(
        f"optional_requires: {wanted.name}: {_MISSING[wanted.name]}"
        for wanted in manifest.optional_requires
        if wanted.name in _MISSING and level_of(manifest, wanted.name) == "none"
    )
