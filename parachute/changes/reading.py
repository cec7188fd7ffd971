"""Changes for people: files with their lines, and the difference of one."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.changes.answering import digest_of
from parachute.changes.blobs import Blobs, TooLarge
from parachute.changes.differences import LONGEST, difference
from parachute.changes.models import NEVER_APPLIED, SENTENCES, ChangeSet, Entry, Held, State
from parachute.changes.present import look

_MOST_FILES = 1000


class Shown(Struct, frozen=True):
    """One set of changes with its files."""

    found: ChangeSet
    entries: tuple[Entry, ...]
    held: tuple[Held, ...]

    def as_json(self) -> dict[str, Any]:
        """The form of the API; what a folder holds is in lines of its own."""
        each = self.found
        lines: list[Entry | Held] = [*self.entries, *self.held]
        return {
            "run": each.number,
            "kind": each.kind,
            "of": each.undone,
            "project": each.project,
            "began_at": each.began_at,
            "ended_at": each.ended_at,
            "reviewed": each.is_reviewed,
            "note": each.note or None,
            "origin": each.origin,
            "added": sum(line.added or 0 for line in lines),
            "removed": sum(line.removed or 0 for line in lines),
            "total": len(lines),
            "files": [file_json(entry) for entry in self.entries[:_MOST_FILES]],
            "held": [held_json(held) for held in self.held[:_MOST_FILES]],
            "hash": digest_of(self.held) if self.held else None,
        }


def file_json(each: Entry) -> dict[str, Any]:
    """A path that was written."""
    return {**_line(each), "undone": each.state == "undone"}


def held_json(each: Held) -> dict[str, Any]:
    """A path that waits."""
    more = {"root": each.root, "reason": each.reason, "why": SENTENCES[each.reason]}
    return {**_line(each), **more, "can_be_applied": each.reason not in NEVER_APPLIED}


def difference_json(blobs: Blobs, project: Path, each: Entry | Held, limit: int) -> dict[str, Any]:
    """The difference of one path, as text where it is some; a content that is neither kept nor there any more has none."""
    before, after = (_content(blobs, project, each.path, state) for state in (each.before, each.after))
    text, is_cut = None, False
    if before is not None and after is not None:
        try:
            text, is_cut = difference(before, after, limit)
        except ValueError:
            pass  # it is no text
    return {**_line(each), "diff": text, "cut": is_cut}


def _line(each: Entry | Held) -> dict[str, Any]:
    kind = each.after.kind if each.after.kind != "none" else each.before.kind
    return {"path": each.path, "kind": kind, "change": _change(each), "added": each.added, "removed": each.removed}


def _change(each: Entry | Held) -> str:
    if each.before.kind == "none":
        return "created"
    if each.after.kind == "none":
        return "deleted"
    is_same = (each.before.kind, each.before.hash) == (each.after.kind, each.after.hash)
    return "mode" if is_same else "changed"


def _content(blobs: Blobs, project: Path, path: str, state: State) -> bytes | None:
    if state.kind in ("none", "folder"):
        return b""
    if state.kind == "other":
        return None
    if (kept := blobs.read(state.hash, LONGEST)) is not None:
        return kept
    try:
        with Folder.open_unlinked(project) as folder:
            present = look(blobs, folder, path, LONGEST)
    except (OSError, ParachuteError, TooLarge):
        return None
    found = b"".join(present.content.chunks()) if present.content and present.state.hash == state.hash else None
    present.drop()
    return found
