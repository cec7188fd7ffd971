"""The kind of an archive, by the names in it."""

import re
from pathlib import PurePosixPath

from imports.reading import brain, foreign
from imports.reading.archive import Archive, Refused
from imports.reading.names import is_hidden

_CATEGORY = re.compile(
    r"(conversations|projects|memories|design_chats)(-\d+)?\.(json|zip)|(frames|light_metadata)(-\d+)?\.zip"
)
_MANIFEST = re.compile(r"manifest-[\w.-]{1,100}\.json")
_FOLDERS = frozenset({"projects", "memories", "design_chats"})
_PARTS = 4


def kind_of(archive: Archive) -> str:
    """The kind of an archive; `auto` for an export of conversations whose first one says it. Error: Refused."""
    names = {name.lower() for name in archive.entries}
    categories = {category_of(name) for name in names if is_export_file(name)}
    if brain.ABOUT in names:
        return "brain"
    if "conversations" in categories:
        return "auto"
    if any(name.endswith("sessions.db") or "/sessions/" in f"/{name}" or name.endswith(".jsonl") for name in names):
        return "parachute"
    if any("/.obsidian/" in f"/{name}" for name in names):
        return "obsidian"
    if program := foreign.program_of_archive(names):
        raise foreign.refuse(program)
    if categories or any(name.endswith(".zip") for name in names):
        return "auto"
    raise Refused("Unknown export format: name its kind, such as `obsidian` for a folder of notes.")


def category_of(name: str) -> str | None:
    """Return what a file of an export holds: conversations, projects, memories, design chats, or what there is; None for others."""
    path = PurePosixPath(name.lower())
    if found := _CATEGORY.fullmatch(path.name):
        return found[1] or found[4]
    if _MANIFEST.fullmatch(path.name):
        return "manifest"
    above = path.parts[-2] if len(path.parts) > 1 else ""
    return above if above in _FOLDERS and path.suffix == ".json" else None


def is_export_file(name: str) -> bool:
    """Return True for a file of an export that is read."""
    path = PurePosixPath(name)
    return (
        len(path.parts) <= _PARTS
        and path.suffix.lower() == ".json"
        and not is_hidden(name)
        and category_of(name) is not None
    )
