"""Transcripts: JSONL files of the agent's program, found by the id that we chose and read as untrusted input."""

import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import InvalidInput
from parachute.base.files import remove_tree, sync_names
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.chat.sessions.messages import NEWEST, has_tools
from parachute.chat.sessions.models import is_session_id
from parachute.chat.sessions.outline import LONG, Outline
from parachute.chat.sessions.outlines import Outlines
from parachute.chat.sessions.transcript import (
    FILE_LIMIT,
    Kept,
    Transcript,
    cut_file,
    end_line,
    events_in,
    open_file,
    read_events,
    read_rows,
    wanted_ranges,
)
from parachute.config.vault.service import Vault

_OWN = "-scratch-"
IMPORTED = "imports/transcripts"
"""Below `.parachute`, where no agent writes: what conversations brought along that were imported."""

BEFORE = "before"
"""Folder of an import with what was brought before of conversations that have grown by it."""

_IMPORTED = ".imported.jsonl"
_ORIGIN_LIMIT = 64 * 1024
_SAID = ("user", "assistant")


class Found(Struct, frozen=True):
    """A message of a person whose answer was broken off: `has_worked` tools, and the ids of what is left of it all."""

    has_worked: bool
    ids: frozenset[str]


class Transcripts:
    """Finds, reads and removes transcripts; its methods block, call them from a thread."""

    def __init__(self, vault: Vault, claude_folder: Path | None = None) -> None:
        self._vault = vault
        self._roots = (vault.transcripts / "projects", (claude_folder or Path.home() / ".claude") / "projects")
        self._outlines = Outlines(vault)
        self._folders: dict[Path, tuple[Signature, list[str]]] = {}

    def folder(self, session: str) -> Path:
        """The folder of a sandboxed session's transcript, the only one that its sandbox gets; error: InvalidInput."""
        if not is_session_id(session):
            raise InvalidInput("sessionId: expected 1 to 64 letters, digits, `-` and `_`.", key="invalid_session_id")
        return self._roots[0] / f"{_OWN}{session}"

    def make_folder(self, session: str) -> None:
        """Make that folder; errors: Unavailable where a link leads elsewhere, OSError."""
        folder = self.folder(session)
        self._vault.private_folder(*folder.relative_to(self._vault.root).parts)

    def find(self, session: str) -> Path | None:
        """The transcript of a session: in the vault, or where the program kept it before; none behind a link."""
        name = f"{session}.jsonl"
        own = self.folder(session) / name
        if _is_regular(own) and not own.parent.is_symlink():
            return own
        for root in self._roots:
            for folder in self._others(root):
                # Asking costs a third of looking: there may be a thousand folders.
                if os.access(path := f"{folder}/{name}", os.F_OK) and _is_regular(path):
                    return Path(path)
        return None

    def imported(self, session: str) -> Path | None:
        """Return the imported transcript of a session, which stays as it is and comes before all that is said here."""
        if not is_session_id(session):
            return None
        path = self.imported_place(session)
        return path if _is_regular(path) and not path.parent.is_symlink() else None

    def imported_place(self, session: str) -> Path:
        """The place of what an import brings of a session."""
        return self._vault.state / IMPORTED / f"{session}{_IMPORTED}"

    def branch_place(self, own: Path, branch: str, *, is_direct: bool) -> Path:
        """The place of the transcript of a new session that goes on from the one at `own`, where its program looks for it."""
        is_of_folder = is_direct and own.is_relative_to(self._roots[0]) and not own.parent.name.startswith(_OWN)
        return (own.parent if is_of_folder else self.folder(branch)) / f"{branch}.jsonl"

    def imported_ids(self) -> list[str]:
        """The sessions of which an import brought something."""
        try:
            with Folder.open(self._vault.state) as state, state.folder(IMPORTED) as found:
                names = [entry.name for entry in found.entries() if entry.name.endswith(_IMPORTED)]
        except OSError:
            return []
        return [session for name in names if is_session_id(session := name.removesuffix(_IMPORTED))]

    def origin(self, session: str, before: str | None = None) -> dict[str, Any] | None:
        """Return the first line of a session's imported transcript, or of what it was `before` an import; None without one."""
        path = self._brought(session, before)
        file = open_file(path) if path else None
        if file is None:
            return None
        with file:
            try:
                value = json.loads(file.readline(_ORIGIN_LIMIT))
            except (ValueError, RecursionError):
                return None
        return value if isinstance(value, dict) and value.get("type") == "import" else None

    def imported_events(self, session: str, before: str | None = None) -> Iterator[dict[str, Any]]:
        """The events that imports have brought, or had brought `before` one, which are on one path."""
        return events_in(self._brought(session, before), with_taken_back=True)

    def ids(self) -> Iterator[str]:
        """The sessions whose transcript lies in the folder of its own sandbox."""
        try:
            with Folder.open(self._roots[0]) as projects:
                names = [
                    entry.name
                    for entry in projects.entries()
                    if entry.name.startswith(_OWN) and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return
        for session in (name.removeprefix(_OWN) for name in names):
            if is_session_id(session) and _is_regular(self.folder(session) / f"{session}.jsonl"):
                yield session

    def bring(self, session: str) -> bool:
        """Bring a transcript to where the session's sandbox sees it; False if there is none.

        One without a message, as a power cut leaves it, is none: it is removed, or the program would neither go on with it
        nor begin another one of its name. Errors: Unavailable where a link leads elsewhere, OSError.
        """
        # First: what lies behind a link is there, and the conversation must not go on as if it were gone.
        self.make_folder(session)
        path = self.find(session)
        if path is None:
            return False
        own = self.folder(session) / path.name
        if path == own and not any(event["type"] in _SAID for event in events_in(path, with_taken_back=True)):
            remove_tree(own, self._vault.root)
            return False
        if path == own:
            end_line(own)
            return True
        with Folder.open(self._vault.root) as vault, vault.folder(".claude/projects") as projects:
            target = f"{own.parent.name}/{own.name}"
            if path.is_relative_to(self._roots[0]):
                projects.rename(f"{path.parent.name}/{path.name}", projects, target)
            else:  # the program's own folder is not ours to empty
                with Folder.open(path.parent) as theirs:
                    projects.write(target, theirs.read(path.name, FILE_LIMIT))
        return True

    def take_back(self, session: str, message: str) -> Found | None:
        """Take a message out whose answer was broken off, or only what stands behind its last use of a tool; None if it is not there.

        What tools have done is done; of words that nobody has read to their end nothing is needed. Its program must not run.
        Error: OSError.
        """
        path = self.folder(session) / f"{session}.jsonl"
        file = open_file(path)
        if file is None:
            return None
        cut, has_worked, ids, behind = -1, False, set[str](), set[str]()
        with file:
            is_in = False
            for place, event, _ in read_events(file):
                is_in = is_in or (event["type"], event.get("uuid")) == ("user", message)
                if not is_in:
                    continue
                cut = place if cut < 0 else cut
                behind.add(str(event.get("uuid")))
                if has_tools(event):
                    ids, behind, has_worked, cut = ids | behind, set(), True, -1
            if not is_in:
                return None
            if cut >= 0:
                cut_file(path, file, cut)
        return Found(has_worked, frozenset(ids))

    def sync(self, session: str) -> None:
        """Wait until what the program has written of a session is on the disk: it does not wait for that itself."""
        path = self.find(session)
        file = open_file(path) if path else None
        if path is not None and file is not None:
            with file:
                os.fsync(file.fileno())
            sync_names(path.parent)

    def prepare(self, session: str) -> None:
        """Read what is new of a transcript if it is much, so that opening it needs only its newest part."""
        path = self.find(session)
        file = open_file(path) if path else None
        if path is not None and file is not None:
            with file:
                outline = self._outlines.get(path)
                with outline.lock:
                    if os.fstat(file.fileno()).st_size - outline.segments[-1].start > LONG:
                        self._bring_up_to_date(outline, file, Transcript(path, "last"))

    def read(self, session: str, kept: Kept = "all", newest: int = NEWEST) -> Transcript | None:
        """The transcript of a session, or None if there is none."""
        with ExitStack() as stack:
            files = []
            for path in (self.imported(session), self.find(session)):
                file = open_file(path) if path else None
                if path is not None and file is not None:
                    files.append((path, stack.enter_context(file)))
            if not files:
                return None
            found = Transcript(files[-1][0], kept)
            parts = []
            for path, file in files:
                found.clear()
                outline = self._outlines.get(path)
                with outline.lock:
                    self._bring_up_to_date(outline, file, found)
                    parts.append(list(outline.segments))
            found.segments = [replace(each, index=n) for n, each in enumerate(part for one in parts for part in one)]
            if kept != "last":
                found.clear()
                for (_, file), (start, end) in zip(files, wanted_ranges(parts, kept, newest), strict=True):
                    found.begin(start)
                    for _, row in read_rows(file, start, end):
                        found.add(row)
        found.leave_out_taken_back()
        return found

    def events(self, session: str) -> Iterator[dict[str, Any]]:
        """All events of a session's transcript, one after the other, without what was taken back."""
        yield from self.imported_events(session)
        yield from self.own_events(session)

    def own_events(self, session: str) -> Iterator[dict[str, Any]]:
        """The events of what was said on this computer."""
        return events_in(self.find(session))

    def delete(self, session: str) -> None:
        """Remove a session's transcript and the folder of the same name."""
        with suppress(OSError):
            remove_tree(self.folder(session), self._vault.root)
        path = self.find(session)
        if path is not None and path.is_relative_to(self._roots[0]):
            remove_tree(path, self._vault.root)
            with suppress(OSError):
                remove_tree(path.with_suffix(""), self._vault.root)
        self._outlines.delete(path or self.folder(session) / f"{session}.jsonl")
        if imported := self.imported(session):
            remove_tree(imported, self._vault.root)
            self._outlines.delete(imported)
            self.forget_before(session)

    def forget_before(self, session: str) -> None:
        """Remove what imports keep of a session as it was before it grew."""
        for folder in (self._vault.state / "imports").glob(f"*/{BEFORE}"):
            with suppress(OSError):
                remove_tree(folder / session, self._vault.root)

    def _brought(self, session: str, before: str | None) -> Path | None:
        if before is None:
            return self.imported(session)
        return self._vault.state / "imports" / before / BEFORE / session

    def _bring_up_to_date(self, outline: Outline, file: IO[bytes], found: Transcript) -> None:
        """Read what is new of a file; `found` has the events of the newest segment then."""
        start = outline.resume(file)
        found.begin(start)
        for place, row in read_rows(file, start):
            if row.shown is not None and outline.add(row.shown[0], place):
                found.clear()
            found.add(row)
        outline.finish(file)
        if outline.segments[-1].start > start:
            self._outlines.store(found.path, outline)

    def _others(self, root: Path) -> list[str]:
        """Folders in which the program may have kept a transcript, listed again only when there are others.

        Another sandbox's folder is written by its agent, which may lay a transcript for us there.
        """
        try:
            now = time.time_ns()
            signature = signature_of(root.stat())
            known = self._folders.get(root)
            if known is not None and known[0] == signature:
                return known[1]
            with Folder.open(root) as projects:
                found = [
                    f"{root}/{entry.name}"
                    for entry in projects.entries()
                    if not entry.name.startswith(_OWN) and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return []
        if signature.differs_later(now):
            self._folders[root] = (signature, found)
        return found


def _is_regular(path: Path | str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
