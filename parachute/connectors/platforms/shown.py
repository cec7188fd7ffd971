"""Record of the messages shown under each key, kept in a file, so that a process that was killed writes nothing twice."""

import json
import os
from collections import OrderedDict
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from parachute.base.files import atomic_write

FILE = ".shown.jsonl"
_KEYS = 2_000
_LIMIT = 64 * 1024 * 1024


class Message(Struct, frozen=True):
    """A message of the platform, and the digest of what it shows."""

    id: str
    digest: str


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """Messages shown so far; `complete` is the digest of the whole, once all of it is shown.

    `pending`: the digest of a message that was about to be written, behind the message `after` of the chat. If it is still there
    when the key comes again, nobody knows whether the platform has taken it.
    """

    chat: str = ""
    messages: tuple[Message, ...] = ()
    files: tuple[str, ...] = ()
    complete: str = ""
    pending: str = ""
    after: int = 0

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all messages."""
        return (*(message.id for message in self.messages), *self.files)

    def with_message(self, index: int, message: Message) -> "Entry":
        """The entry with one message more, or another in the place of an earlier one."""
        return replace(self, messages=(*self.messages[:index], message, *self.messages[index + 1 :]), pending="")

    def with_file(self, identity: str) -> "Entry":
        """The entry with one message with a file more."""
        return replace(self, files=(*self.files, identity), pending="")


def digest(value: Any) -> str:
    """Compare what is shown without keeping it."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:24]


class Shown:
    """Entries by key, the newest some thousand; written by one process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._lines = 0
        self._load()

    def get(self, key: str) -> Entry:
        """Return what was shown under a key."""
        return self._entries.get(key, Entry())

    def ids_of(self, chat: str) -> set[str]:
        """Return the ids of all messages that are known to be in a chat."""
        return {identity for entry in self._entries.values() if entry.chat == chat for identity in entry.ids}

    def put(self, key: str, entry: Entry) -> None:
        """Note what is shown, before anything else is done."""
        self._keep(key, entry)
        if self._lines > 2 * _KEYS:
            atomic_write(self._path, "".join(_line(each, kept) for each, kept in self._entries.items()))
            self._lines = len(self._entries)
            return
        # In one piece, and without waiting for the disk: a process that is killed loses nothing that it has written.
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, _line(key, entry).encode())
        finally:
            os.close(descriptor)
        self._lines += 1

    def _keep(self, key: str, entry: Entry) -> None:
        self._entries[key] = entry
        self._entries.move_to_end(key)
        if len(self._entries) > _KEYS:
            self._entries.popitem(last=False)

    def _load(self) -> None:
        try:
            with self._path.open(encoding="utf-8", errors="replace") as file:
                lines = file.read(_LIMIT).split("\n")
        except FileNotFoundError:
            return
        for line in lines:
            try:
                self._keep(*msgspec.json.decode(line, type=tuple[str, Entry]))
            except ValueError:
                continue  # the last one, of a process that was killed while it wrote
        self._lines = len(lines)


def _line(key: str, entry: Entry) -> str:
    # On a line of its own also behind half a line.
    return f"\n{msgspec.json.encode((key, entry)).decode()}"
