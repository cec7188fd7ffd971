"""Conversations as a module sends them, line by line: written to the disk while they come, and given their places afterwards."""

import json
import os
from typing import BinaryIO

from parachute.base.errors import InvalidInput
from parachute.chat.imports.folders import ImportFolders
from parachute.chat.imports.models import Import
from parachute.chat.sessions.imported import session_of
from parachute.chat.sessions.models import Session, is_session_id
from parachute.core.sessions import HEAD

_LINE = 16 * 1024 * 1024
_HEAD_LIMIT = 64 * 1024
_CONVERSATION = 128 * 1024 * 1024
_MOST = 1_000
"""Conversations in one transaction: others write between two of them."""


class Arriving:
    """Each conversation begins with a line about it, and the lines of its messages follow; its methods block.

    `staged` has the number of the file of each that has messages; `growing` are those that may be here already.
    """

    def __init__(self, folders: ImportFolders, under_way: Import) -> None:
        self.sessions: list[Session] = []
        self.staged: dict[str, int] = {}
        self.growing: set[str] = set()
        self._folders = folders
        self._import = under_way
        self._rest = b""
        self._head = b""
        self._file: BinaryIO | None = None
        self._size = 0

    def take(self, part: bytes) -> None:
        """Write what has come; error: InvalidInput."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        if len(self._rest) > _LINE:
            raise InvalidInput(f"A line has at most {_LINE:,} bytes.", key="line_too_long")
        for line in lines:
            if line.startswith(HEAD):
                self._begin(line)
            elif line:
                self._write(line)

    def end(self) -> None:
        """Close the last file; error: InvalidInput if the last line is not whole."""
        if self._rest:
            raise InvalidInput("The last line does not end.", key="line_broken_off")
        self.close()

    def close(self) -> None:
        """Close the file of the conversation that came last, when it is on the disk."""
        if self._file is not None:
            file, self._file = self._file, None
            with file:
                file.flush()
                os.fsync(file.fileno())

    def clear(self) -> None:
        """Remove what got no place."""
        if self._file is not None:
            self._file.close()
        for number in self.staged.values():
            self._folders.unstage(self._import.id, number)

    def _begin(self, line: bytes) -> None:
        self.close()
        try:
            head = json.loads(line) if len(line) <= _HEAD_LIMIT else None
        except (ValueError, RecursionError):
            head = None
        identifier = head.get("session") if isinstance(head, dict) else None
        if not isinstance(head, dict) or not isinstance(identifier, str) or not is_session_id(identifier):
            raise InvalidInput(
                "session: 1 to 64 letters, digits, `-` and `_` are expected.", key="session_id_malformed"
            )
        if len(self.sessions) == _MOST:
            raise InvalidInput(f"At most {_MOST:,} conversations can be sent at once.", key="too_many_conversations")
        if head.get("grows"):
            self.growing.add(identifier)
        self._head, self._size = line, 0
        self.sessions.append(session_of(head, identifier, import_id=self._import.id))

    def _write(self, line: bytes) -> None:
        self._size += len(line)
        if not self.sessions or self._size > _CONVERSATION:
            raise InvalidInput(
                f"A conversation begins with a line about it, and has at most {_CONVERSATION:,} bytes.",
                key="conversation_malformed",
            )
        if self._file is None:
            self._import.staged += 1
            self.staged[self.sessions[-1].id] = self._import.staged
            self._file = self._folders.stage(self._import.id, self._import.staged)
            self._file.write(self._head + b"\n")
        self._file.write(line + b"\n")
