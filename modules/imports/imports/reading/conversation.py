"""A conversation as every kind of export is read into it: what was said, by whom and when."""

import hashlib
import math
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, Literal

from imports.reading.trees import BRANCHES

Role = Literal["user", "assistant"]

TEXT_LIMIT = 1_000_000
_TITLE = 200
_ORIGINAL = 200
_NAME = 40
_FILES = 500
_STEM, _ENDING = 60, 12
_UNSAFE = re.compile(r"[^\w.-]")
_FIRST, _LAST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_NAMES = uuid.UUID("6f6b1a52-7f37-5c0e-9a3f-3d1c2f1f8f5b")


@dataclass(slots=True)
class Attachment:
    """File that went with a message; `key` is its id in the place that it comes from, and `read` gives its content."""

    key: str
    name: str
    read: Callable[[], Iterator[bytes]]


@dataclass(slots=True)
class Message:
    """Message of one side; `time` is ISO 8601 in UTC."""

    role: Role
    text: str
    time: str | None = None
    model: str | None = None
    id: str | None = None
    """Its id in the place that it comes from, which it has in every export."""

    files: list[Attachment] = field(default_factory=list)


@dataclass(slots=True)
class Conversation:
    """One conversation, or one branch of it; `original` is its id in the place that it comes from, `branch` that of the branch's end.

    `path` has the ids of its messages, also of those that say nothing here. `session` is set only where it keeps its id. `stated` is the count of messages that a list claims.
    """

    source: str
    original: str
    branch: str | None = None
    title: str | None = None
    created: str | None = None
    updated: str | None = None
    archived: bool = False
    messages: list[Message] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    session: str | None = None
    stated: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    documents: int = 0
    files: dict[str, Attachment] = field(default_factory=dict)
    """Files of all messages, by the names that they get here."""

    @property
    def id(self) -> str:
        """The id of its session here, which is the same whenever it is imported."""
        return self.id_of(self.branch)

    def id_of(self, branch: str | None) -> str:
        """The id that the session of a branch has, or would have; None for that of the conversation."""
        if branch is None and self.session:
            return self.session
        return str(uuid.uuid5(_NAMES, f"{self.source}:{self.original}" + (f":{branch}" if branch else "")))

    def say(
        self,
        role: Role,
        text: str,
        time: str | None,
        model: str | None = None,
        *,
        name: str | None = None,
        files: Sequence[Attachment] = (),
    ) -> None:
        """Add a message, unless it is empty; `name` is its id in the place that it comes from."""
        text = clean(text)
        if len(text) > TEXT_LIMIT:
            text = f"{text[:TEXT_LIMIT]}\n[…]"
            self.left_out["cut_texts"] += 1
        attached = [self._attached(each) for each in files[: _FILES - len(self.files)]]
        if len(attached) < len(files):
            self.left_out["too_many_files"] += len(files) - len(attached)
        if text.strip() or attached:
            self.messages.append(Message(role, text, time, model, name, attached))

    def _attached(self, file: Attachment) -> Attachment:
        """Give a file a name that no other one has here, and that is the same in a later export."""
        path = PurePosixPath(_UNSAFE.sub("_", clean(file.name)).lstrip(".") or "file")
        stem, ending = (path.stem[:_STEM], path.suffix) if len(path.suffix) <= _ENDING else (path.name[:_STEM], "")
        name = f"{stem}{ending}"
        if (known := self.files.get(name)) and known.key != file.key:
            name = f"{stem}-{hashlib.sha256(file.key.encode()).hexdigest()[:8]}{ending}"
        return self.files.setdefault(name, Attachment(file.key, name, file.read))

    def settle(self, number: int = 0, ends: int = 0) -> None:
        """Fill title and times in from the messages, where the export does not say them.

        `number` is that of the branch, 0 for the one that was shown last; of more `ends` than come the rest is counted there.
        """
        times = [message.time for message in self.messages if message.time]
        self.created = self.created or (min(times) if times else None)
        self.updated = max(filter(None, (self.updated, self.created, *times[-1:])), default=None)
        last = self.created
        for message in self.messages:
            message.time = last = message.time or last
        first = next((message.text for message in self.messages if message.role == "user"), "")
        words = " ".join((self.title or "").split()) or " ".join(first[:_TITLE].split())[:80]
        self.title = clean(words)[:_TITLE] or None
        if number:
            self.title = f"{self.title or 'A conversation'} (branch {number + 1})"
        elif ends > BRANCHES:
            self.left_out["branches"] += ends - BRANCHES


def unknown(kind: str) -> str:
    """Return the key under which something of an unknown kind is counted, with the name that it has there."""
    name = "".join(each for each in kind if each.isascii() and (each.isalnum() or each in "._/-"))[:_NAME]
    return f"unknown_content:{name}" if name else "unknown_content"


def clean(text: str) -> str:
    """A text that every encoding and every reader takes: no zero bytes, no halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def text_of(value: Any) -> str:
    """The value if it is a text, or nothing."""
    return value if isinstance(value, str) else ""


def name_of(value: Any) -> str | None:
    """An id or a short name; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)[:_ORIGINAL]
    return clean(value)[:_ORIGINAL] or None if isinstance(value, str) else None


def items_of(value: Any) -> list[Any]:
    """The value if it is a list, or an empty one."""
    return value if isinstance(value, list) else []


def fields_of(value: Any) -> dict[str, Any]:
    """The value if it is an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def moment(value: Any) -> str | None:
    """A time in seconds or as ISO 8601; None for what is none, or lies in no year in which people chat."""
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            found = datetime.fromtimestamp(value, UTC) if math.isfinite(value) else None
        elif isinstance(value, str) and len(value) <= 64:
            found = datetime.fromisoformat(value.strip())
            # Without a zone it was written by programs that mean UTC.
            found = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
        else:
            found = None
    except (ValueError, OverflowError, OSError):
        return None
    if found is None or not _FIRST <= found < _LAST:
        return None
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")
