"""The beginning of a conversation, copied for a branch of it: its transcripts before one message, and the files that these name."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from msgspec import Struct

from parachute.base.errors import Unavailable
from parachute.base.files import private_folder, remove_tree
from parachute.base.folders import Folder
from parachute.chat.sessions.branches import Branches
from parachute.chat.sessions.events import apart
from parachute.chat.sessions.messages import assistant_text, user_text
from parachute.chat.sessions.transcript import FILE_LIMIT, LINE_LIMIT, open_file, read_rows
from parachute.chat.sessions.transcripts import Transcripts
from parachute.config.vault.service import Vault

_RESULTS = "tool-results"
"""Folder beside a transcript with results of tools that were too long for it."""

_FILES, _SIZE = 2_000, 256 * 1024 * 1024
"""Files that are copied with one transcript, and their bytes."""

_CHUNK = 1024 * 1024

_UNLINKED = ("content-replacement",)
"""Lines outside of the tree that change what the model is sent."""


class Beginning(Struct, frozen=True):
    """A copied beginning: the number of its texts, and of those of them that an import brought."""

    texts: int
    imported: int


class _Line(NamedTuple):
    """A line on the way to the message: its place in the file, its links, and its number among the shown ones."""

    place: int
    shown: int | None
    id: str | None
    parent: str | None
    is_linked: bool
    has_text: bool


class _Source(NamedTuple):
    """A folder that an agent writes, below one that it does not: no link in it is followed."""

    top: Path
    path: str


class Beginnings:
    """Copies beginnings; its methods block, call them from a thread."""

    def __init__(self, vault: Vault, transcripts: Transcripts) -> None:
        self._vault = vault
        self._transcripts = transcripts

    def copy(self, session: str, message: str, branch: str, *, is_direct: bool) -> Beginning | None:
        """Copy what was said before a message to where the session `branch` has it; None if the message is not there.

        Error: Unavailable.
        """
        try:
            return self._copy(session, message, branch, is_direct=is_direct)
        except OSError as error:
            self.discard(branch)
            raise Unavailable(
                f"The conversation could not be copied: {error.strerror}.",
                "See that the disk has room and that the vault can be written.",
                key="conversation_not_copied",
            ) from error

    def discard(self, branch: str) -> None:
        """Remove what was copied for a session that is not to be."""
        self._transcripts.delete(branch)
        with suppress(OSError):
            remove_tree(self._vault.state / "attachments" / branch, self._vault.root)

    def _copy(self, session: str, message: str, branch: str, *, is_direct: bool) -> Beginning | None:
        transcripts, names = self._transcripts, _Names(session, branch)
        own, imported, brought, said = transcripts.find(session), transcripts.imported(session), 0, 0
        target = transcripts.branch_place(own, branch, is_direct=is_direct) if own else transcripts.folder(branch)
        attachments = _Source(self._vault.state, f"attachments/{session}")
        results = _Source(own.parent.parent, f"{own.parent.name}/{session}/{_RESULTS}") if own else None
        names.look_for(_listed(results) if results else (), _listed(attachments))
        is_whole = True
        if imported is not None and (file := open_file(imported)) is not None:
            with file:
                lines, is_whole = _imported(file, message)
                brought = sum(line.has_text for line in lines)
                self._write(
                    transcripts.imported_place(branch), names.renamed(file, [0, *(each.place for each in lines)])
                )
        if is_whole:
            file = open_file(own) if own is not None else None
            if file is None:
                return None
            with file:
                found = _before(file, message)
                if found is None:
                    return None
                if found:
                    said = sum(line.has_text for line in found)
                    self._write(target, names.renamed(file, [line.place for line in found]))
        left = _SIZE
        for source, copies, wanted in (
            (results, target.parent / branch / _RESULTS, names.results),
            (attachments, attachments.top / "attachments" / branch, names.attachments),
        ):
            if source is not None and wanted:
                private_folder(copies, self._vault.root)
                left -= _copy_files(source, copies, sorted(wanted)[:_FILES], left)
        return Beginning(brought + said, brought)

    def _write(self, target: Path, lines: Iterable[bytes]) -> None:
        private_folder(target.parent, self._vault.root)
        with Folder.open(target.parent) as folder:
            _write(folder, target.name, lines)


class _Names:
    """The names that lines get in a branch, and those of files that they have named so far."""

    def __init__(self, session: str, branch: str) -> None:
        self.session, self.branch = session, branch
        self.results, self.attachments = set[str](), set[str]()
        self._wanted: tuple[set[str], set[str]] = (set(), set())

    def look_for(self, results: Iterable[str], attachments: Iterable[str]) -> None:
        """Note which of these files are named from now on."""
        self._wanted = (set(results), set(attachments))

    def renamed(self, file: IO[bytes], places: Iterable[int]) -> Iterator[bytes]:
        """The lines at some places of a file as they are in the branch."""
        old, new = self.session.encode(), self.branch.encode()
        session = re.compile(rb'("sessionId": ?")%b(")' % re.escape(old))
        for place in places:
            file.seek(place)
            line = file.readline(LINE_LIMIT)
            for wanted, found in zip(self._wanted, (self.results, self.attachments), strict=True):
                named = {name for name in wanted if name.encode() in line}
                found |= named
                wanted -= named
            line = session.sub(rb"\g<1>%b\g<2>" % new, line)
            line = line.replace(b"/%b/%b/" % (old, _RESULTS.encode()), b"/%b/%b/" % (new, _RESULTS.encode()))
            line = line.replace(b"/attachments/%b/" % old, b"/attachments/%b/" % new)
            # The agent's program would lose what stands behind an unfinished line.
            yield from apart(line if line.endswith(b"\n") else line + b"\n")


def _imported(file: IO[bytes], message: str) -> tuple[list[_Line], bool]:
    """The lines of an import before a message, all of them where it is not there; the second says so."""
    lines: list[_Line] = []
    for place, row in read_rows(file):
        if row.shown is None:
            continue
        event = row.shown[0]
        if event.get("uuid") == message:
            return lines, False
        lines.append(_Line(place, len(lines), row.id, row.parent, row.is_linked, _has_text(event)))
    return lines, True


def _before(file: IO[bytes], message: str) -> list[_Line] | None:
    """The lines of a transcript that led to a message; None if it is not there, or was not said there.

    What was taken back before it is left out, with all that followed it.
    """
    branches, lines = Branches(), list[_Line]()
    is_found = False
    for place, row in read_rows(file):
        event = row.shown[0] if row.shown else None
        branches.add(row)
        is_found = event is not None and event.get("uuid") == message
        if is_found:
            break
        if not row.is_aside and row.leaf is None:
            number = branches.count - 1 if event else None
            has_text = event is not None and _has_text(event)
            lines.append(_Line(place, number, row.id, row.parent, row.is_linked, has_text))
    gone = branches.taken_back()
    if not is_found or branches.count - 1 in gone:
        return None
    shown = {line.id for line in lines if line.shown is not None and line.shown not in gone}
    left_out = {line.id for line in lines if line.shown in gone} - shown - {None}
    kept = []
    for line in lines:
        if line.shown is not None:
            kept += [line] if line.shown not in gone else []
        elif line.parent in left_out:
            left_out.add(line.id)
        elif line.is_linked or _is_needed(file, line.place):
            kept.append(line)
    return kept


def _is_needed(file: IO[bytes], place: int) -> bool:
    file.seek(place)
    try:
        event = json.loads(file.readline(LINE_LIMIT))
    except (ValueError, RecursionError):
        return False
    return isinstance(event, dict) and event.get("type") in _UNLINKED


def _has_text(event: dict[str, Any]) -> bool:
    return bool(user_text(event) or assistant_text(event))


def _listed(source: _Source) -> list[str]:
    try:
        with Folder.open(source.top) as top, top.folder(source.path) as opened:
            return sorted(entry.name for entry in opened.entries() if entry.is_file(follow_symlinks=False))[:_FILES]
    except OSError:
        return []


def _write(folder: Folder, name: str, lines: Iterable[bytes]) -> None:
    left = FILE_LIMIT
    with folder.replacement(name, 0o600) as new:
        for line in lines:
            left -= len(line)
            if left < 0:
                break
            new.write(line)
        new.commit()


def _copy_files(source: _Source, target: Path, names: Iterable[str], left: int) -> int:
    """Copy regular files of at most `left` bytes together; how many bytes they have."""
    copied = 0
    with ExitStack() as stack:
        top, here = (stack.enter_context(Folder.open(each)) for each in (source.top, target))
        there = stack.enter_context(top.folder(source.path))
        for name in names:
            with there.file(name) as file, here.replacement(name, 0o644) as new:
                while data := file.read(_CHUNK):
                    copied += len(data)
                    if copied > left:
                        return left
                    new.write(data)
                new.commit()
    return copied
