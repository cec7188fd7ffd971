"""Reads an export as the module does, and collects what it finds."""

import json
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from imports.reading import export
from imports.upload import Upload


@dataclass
class Read:
    """Result of a reading: conversations by their title, with (role, text) of each message, and files by their path."""

    kind: str | None = None
    conversations: list[dict[str, Any]] = field(default_factory=list)
    messages: list[list[dict[str, Any]]] = field(default_factory=list)
    said: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    attachments: list[dict[str, bytes]] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    media: dict[str, bytes] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return not self.errors

    def titles(self) -> list[str | None]:
        """The titles, in order."""
        return [each["title"] for each in self.conversations]

    def take(self, found: dict[str, Any]) -> None:
        """Take one thing, as the module does."""
        json.dumps(
            {name: value for name, value in found.items() if name not in ("content", "attachments", "media")}
        ).encode()
        self.kind = found.get("kind", self.kind)
        self.left_out.update(found.get("left_out", {}))
        if "error" in found:
            self.errors.append(found["error"])
        if "skipped" in found:
            self.skipped.append(found["skipped"])
        if chat := found.get("conversation"):
            self.conversations.append(chat)
            self.messages.append(found["messages"])
            self.attachments.append({name: b"".join(parts) for name, parts in found.get("attachments", {}).items()})
            self.said[chat["title"]] = [(each["role"], each["text"]) for each in found["messages"]]
        if entry := found.get("entry"):
            self.entries.append(entry)
            self.media |= {name: b"".join(parts) for name, parts in found["media"].items()}
        if file := found.get("file"):
            self.files["/".join(file["parts"])] = b"".join(found["content"])


def read(folder: Path, data: bytes | Path, kind: str = "auto", *, known: tuple[str, ...] = ()) -> Read:
    """Read an export to its end; nothing but ours is raised."""
    found = Read()
    export.read(uploaded(folder, data), kind, set(known), found.take)
    return found


def uploaded(folder: Path, data: bytes | Path, parts: int = 1) -> Upload:
    """An export as it was uploaded, in so many parts."""
    place = folder / "upload"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    content = data.read_bytes() if isinstance(data, Path) else data
    size = -(-len(content) // parts) or 1
    for number in range(parts):
        (place / f"part-{number:04}").write_bytes(content[number * size : (number + 1) * size])
    return Upload(place)
