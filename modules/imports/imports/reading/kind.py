"""The kind of an export, by the names and the first conversation in it."""

import contextlib
from pathlib import PurePosixPath

from imports.reading import brain, chatgpt, claude
from imports.reading.archive import Archive, Refused
from imports.reading.json_values import InvalidJson, elements
from imports.reading.names import is_hidden

_LIKE_CONVERSATIONS = "conversations"


def kind_of(archive: Archive) -> str:
    """The kind of an archive; errors: Refused, InvalidJson."""
    names = {name.lower() for name in archive.entries}
    if brain.ABOUT in names:
        return "brain"
    if any(is_export_file(name) for name in names if _LIKE_CONVERSATIONS in name):
        for entry in archive.named(".json"):
            if is_export_file(entry.filename) and _LIKE_CONVERSATIONS in entry.filename:
                with contextlib.suppress(InvalidJson):
                    for value in elements(archive.open(entry)):
                        if chatgpt.is_one(value):
                            return "chatgpt"
                        if claude.is_one(value):
                            return "claude"
        raise Refused("The conversations.json in the archive has no conversations of ChatGPT or Claude.")
    if any(name.endswith("sessions.db") or "/sessions/" in f"/{name}" or name.endswith(".jsonl") for name in names):
        return "parachute"
    if any("/.obsidian/" in f"/{name}" for name in names):
        return "obsidian"
    raise Refused("Unknown export format: name its kind, such as `obsidian` for a folder of notes.")


def is_export_file(name: str) -> bool:
    """Return True for a file of an export that has conversations or projects."""
    path = PurePosixPath(name.lower())
    parts = path.parts
    if len(parts) > 3 or path.suffix != ".json" or is_hidden(name):
        return False
    begin, _, number = path.stem.partition("-")
    is_conversations = begin == "conversations" and (number.isdigit() or not number)
    return is_conversations or path.name == "projects.json" or (len(parts) > 1 and parts[-2] == "projects")
