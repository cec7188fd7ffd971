"""Output of a reading: files in its folder, and a line of JSON for each of them on standard output."""

import hashlib
import json
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from parachute.chat.imports.reading.archive import Refused
from parachute.chat.imports.reading.conversation import Conversation

_SPARE = 512 * 1024**2
"""Bytes of the disk that stay free for everything else."""


class Output:
    """Writes into a folder, and with `is_dry` only says what it would; `known` are the sessions that are there already."""

    def __init__(self, folder: Path, progress: Callable[[], float], *, is_dry: bool) -> None:
        self.known = set((folder / "known").read_text().split())
        self._folder = folder
        self._progress = progress
        self._is_dry = is_dry
        self._staged = 0

    def file(self, path: str, parts: Iterable[bytes], time: str | None, *, with_digest: bool = False) -> None:
        """Write what a file holds; `with_digest`: also a dry reading finds its hash."""
        staged = self._next()
        digest = hashlib.sha256()
        if self._is_dry and with_digest:
            # So that what would stay can be told before anything comes.
            for part in parts:
                digest.update(part)
        if not self._is_dry:
            disk = os.statvfs(self._folder)
            if disk.f_bavail * disk.f_frsize < _SPARE:
                raise Refused("The disk has no room for what is in the archive.")
            with (self._folder / staged).open("xb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
        self.say(file={"path": path, "staged": staged, "time": time, "digest": digest.hexdigest()})

    def conversation(self, found: Conversation) -> None:
        """Write a conversation as a transcript, unless there is nothing in it, or it is there already."""
        found.settle()
        if not found.messages and not found.stated:
            self.say(left_out={**found.left_out, "empty_conversations": 1})
            return
        if found.id in self.known:
            self.say(skipped=found.id)
            return
        self.known.add(found.id)
        staged = self._next() if found.messages else None
        head = {
            "session": found.id,
            "source": found.source,
            "original": found.original,
            "title": found.title,
            "created": found.created,
            "updated": found.updated,
            "archived": found.archived,
            "messages": len(found.messages) or found.stated,
            "labels": found.labels,
        }
        if staged is not None and not self._is_dry:
            with (self._folder / staged).open("x", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in _lines(found, head))
                file.flush()
                os.fsync(file.fileno())
        self.say(conversation={**head, "staged": staged}, left_out=found.left_out)

    def say(self, **line: Any) -> None:
        """Write one line, with how far the reading is; none for counts of nothing."""
        if isinstance(counts := line.get("left_out"), dict):
            line["left_out"] = {what: count for what, count in counts.items() if count}
        if any(line.values()):
            say({**line, "progress": self._progress()})

    def _next(self) -> str:
        self._staged += 1
        return str(self._staged)


def say(line: dict[str, Any]) -> None:
    """Write one line for whoever started this program."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _lines(found: Conversation, head: dict[str, Any]) -> Iterator[str]:
    yield json.dumps({"type": "import", **head})
    before: str | None = None
    for number, message in enumerate(found.messages):
        name = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{found.id}:{number}"))
        content: dict[str, Any] = {"role": message.role, "content": [{"type": "text", "text": message.text}]}
        if message.role == "assistant" and message.model:
            content["model"] = message.model
        event: dict[str, Any] = {"type": message.role, "uuid": name, "parentUuid": before, "sessionId": found.id}
        if message.time:
            event["timestamp"] = message.time
        yield json.dumps({**event, "message": content}, ensure_ascii=False)
        before = name
