"""The transcripts of Claude Code on this machine: found, opened without following links, and never changed."""

import contextlib
import heapq
import json
import os
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import IO, Any, Generic, TypeVar

from parachute.base.errors import InvalidInput, NotFound
from parachute.base.folders import Folder
from parachute.chat.claude_code_import.models import Found, Summary
from parachute.chat.claude_code_import.reading import messages_of, project_of, summary_of
from parachute.chat.claude_code_import.retention import MANAGED, retention_days
from parachute.chat.sessions.events import apart

_OWN = "-scratch-"
_SESSION = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ENDING = ".jsonl"
_FOLDERS, _FILES = 5_000, 50_000
_PROJECTS, _SUMMARIES = 20_000, 1_000
_COPIED = 256 * 1024 * 1024
"""Bytes of the longest transcript that can be gone on with: as much as the computer reads of one."""

_LINE = 16 * 1024 * 1024
_RESULTS = "tool-results"
_KEPT, _KEPT_FILES = 256 * 1024 * 1024, 2_000
"""Bytes and files of the results of tools that lie beside one transcript."""


Read = TypeVar("Read")
Value = TypeVar("Value")


class History:
    """Reads below `{claude folder}/projects`; its methods block, call them from a thread."""

    def __init__(self, claude_folder: Path | None = None) -> None:
        folder = claude_folder or Path.home() / ".claude"
        self._root = folder / "projects"
        self._settings = (MANAGED, folder / "settings.json")
        self._projects: _Cache[str | None] = _Cache(_PROJECTS)
        self._summaries: _Cache[Summary | None] = _Cache(_SUMMARIES)

    def newest(self, limit: int, path: str | None = None) -> list[Summary]:
        """The newest conversations, of all projects or of the one at `path`."""
        summaries: list[Summary] = []
        for found in self._found():
            if path is None or self.project(found) == path:
                summary = self.summary(found)
                summaries += [summary] if summary else []
            if len(summaries) == limit:
                break
        return summaries

    def retention_days(self) -> int | None:
        """The days that Claude Code keeps conversations, None if it deletes none."""
        return retention_days(*self._settings)

    def unchanged_since(self, seconds: float) -> list[tuple[Found, Summary]]:
        """The conversations that were not changed since a moment, the oldest first."""
        old = [found for found in reversed(self._found()) if found.modified < seconds * 1e9]
        return [(found, summary) for found in old if (summary := self.summary(found))]

    def projects(self) -> list[dict[str, Any]]:
        """The folders in which there were conversations, the one of the newest first, in the app's form."""
        counts: dict[tuple[str, str], int] = {}
        for found in self._found():
            if path := self.project(found):
                counts[path, found.folder] = counts.get((path, found.folder), 0) + 1
        return [
            {"encodedName": folder, "path": path, "sessionCount": count} for (path, folder), count in counts.items()
        ]

    def find(self, session: str, path: str | None = None) -> tuple[Found, Summary]:
        """A conversation, the newest file of it if there are several; error: NotFound."""
        if _SESSION.fullmatch(session):
            for found in self._found():
                is_meant = found.session == session and (path is None or self.project(found) == path)
                if is_meant and (summary := self.summary(found)):
                    return found, summary
        raise NotFound(
            f"Claude Code has no conversation {session[:64]!r}{' in this project' if path else ''}.",
            key="session_not_found",
        )

    def messages(self, found: Found) -> list[dict[str, Any]]:
        """The newest messages of a conversation."""
        return self._read(found, messages_of) or []

    def project(self, found: Found) -> str | None:
        """The folder that a conversation was begun in, or None if it does not say."""
        return self._projects.get(found, lambda: self._read(found, lambda file: project_of(file, found.folder)))

    def summary(self, found: Found) -> Summary | None:
        """Summarize a conversation for a list; None if nothing was said in it."""
        project = self.project(found)
        return self._summaries.get(found, lambda: self._read(found, lambda file: summary_of(file, found, project)))

    def copy_results(self, found: Found, target: Path) -> bool:
        """Write the results of tools that were too long for a transcript into a new folder; False if there are none. Error: OSError."""
        left = _KEPT
        with contextlib.ExitStack() as stack:
            try:
                root = stack.enter_context(Folder.open(self._root))
                beside = stack.enter_context(root.folder(f"{found.folder}/{found.session}/{_RESULTS}"))
            except OSError:
                return False
            names = sorted(entry.name for entry in beside.entries() if entry.is_file(follow_symlinks=False))
            if not names:
                return False
            target.mkdir(mode=0o700)
            copies = stack.enter_context(Folder.open(target))
            for name in names[:_KEPT_FILES]:
                with contextlib.suppress(InvalidInput, FileNotFoundError):
                    copies.write(name, data := beside.read(name, left))
                    left -= len(data)
        return True

    def copy(self, found: Found, target: Path, results: str | None = None) -> None:
        """Write a transcript as a new file, in which the results of tools lie in the folder `results`.

        Errors: NotFound if it has gone, InvalidInput if it is too large.
        """
        kept_in = json.dumps(f"{self._root}/{found.folder}/{found.session}/{_RESULTS}/")[1:-1].encode()
        lie_in = f"{results}/".encode() if results else kept_in
        file = self._open(found)
        if file is None:
            raise NotFound(f"The conversation {found.session} of Claude Code has just gone.", key="session_not_found")
        with file:
            left = os.fstat(file.fileno()).st_size
            if left > _COPIED:
                raise InvalidInput(
                    f"This conversation is longer than {_COPIED:,} bytes.", "Use another one.", key="too_long"
                )
            with Folder.open(target.parent) as folder:
                descriptor = folder.descriptor(target.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            with os.fdopen(descriptor, "wb") as copy:
                part = b""
                while left > 0 and (read := file.readline(min(left, _LINE))):
                    part = read
                    # The agent's program would lose what stands behind an unfinished line.
                    copy.writelines(each.replace(kept_in, lie_in) for each in apart(part))
                    left -= len(part)
                if part and not part.endswith(b"\n"):
                    # Claude Code is just writing this line: what is said here must not become the rest of it.
                    copy.write(b"\n")
                copy.flush()
                os.fsync(copy.fileno())

    def _read(self, found: Found, read: Callable[[IO[bytes]], Read]) -> Read | None:
        file = self._open(found)
        if file is None:
            return None
        with file, contextlib.suppress(OSError):
            return read(file)
        return None

    def _open(self, found: Found) -> IO[bytes] | None:
        """The file, reached without a link anywhere below `projects`; None if it is no regular file."""
        try:
            with Folder.open(self._root) as root:
                return root.file(f"{found.folder}/{found.name}")
        except (OSError, InvalidInput):
            return None

    def _found(self) -> list[Found]:
        """All transcripts, the newest first; of very many the newest."""
        found: list[Found] = []
        with contextlib.suppress(OSError), Folder.open(self._root) as root:
            for index, folder in enumerate(root.entries()):
                # Where the vault is the home folder, conversations of this computer lie there, too.
                if index < _FOLDERS and folder.is_dir(follow_symlinks=False) and not folder.name.startswith(_OWN):
                    found += _transcripts(root, folder.name)
        return heapq.nlargest(_FILES, found, key=lambda each: (each.modified, each.session))


class _Cache(Generic[Value]):
    """A cache of values read from files, by name, size and time of change; the least used is dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[tuple[str, str], tuple[Found, Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, found: Found, read: Callable[[], Value]) -> Value:
        key = (found.folder, found.session)
        with self._lock:
            kept = self._values.get(key)
            if kept and kept[0] == found:
                self._values.move_to_end(key)
                return kept[1]
        value = read()
        with self._lock:
            self._values[key] = (found, value)
            self._values.move_to_end(key)
            if len(self._values) > self._limit:
                self._values.popitem(last=False)
        return value


def _transcripts(root: Folder, name: str) -> list[Found]:
    found = []
    with contextlib.suppress(OSError), root.folder(name) as folder:
        for entry in folder.entries():
            session = entry.name.removesuffix(_ENDING)
            # Other names, such as `agent-…`, are of what a conversation has started and nobody can go on with.
            if session == entry.name or not _SESSION.fullmatch(session) or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                found.append(Found(name, session, status.st_size, status.st_mtime_ns))
    return found
