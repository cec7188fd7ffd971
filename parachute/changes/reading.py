"""Changes for people: files with their lines, and the difference of one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from parachute.base.answers import Answer
from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.changes.answering import digest_of
from parachute.changes.blobs import Blobs, TooLarge
from parachute.changes.differences import LONGEST, difference
from parachute.changes.models import (
    NEVER_APPLIED,
    SENTENCES,
    ChangeSet,
    Counts,
    Entry,
    Held,
    Kind,
    Reason,
    SetKind,
    State,
)
from parachute.changes.present import look
from parachute.security.origin import Origin

MOST_FILES = 1000

Change = Literal["created", "deleted", "changed", "mode"]


class Shown(Struct, frozen=True):
    """One set of changes with its files."""

    found: ChangeSet
    entries: tuple[Entry, ...]
    held: tuple[Held, ...]


class ChangedPath(Answer, frozen=True):
    """A path that was changed; lines added and removed are known of texts."""

    path: str
    kind: Kind
    change: Change
    added: int | None
    removed: int | None


class WrittenPath(ChangedPath, frozen=True):
    """A path that was written."""

    undone: bool


class HeldPath(ChangedPath, frozen=True):
    """A path that waits; `why` is the reason as a sentence, `root` the folder or file that it belongs to."""

    root: str
    reason: Reason
    why: str
    can_be_applied: bool


class Difference(ChangedPath, frozen=True):
    """A difference as text, cut where it is long; None for what is no text, and where a content is no longer kept."""

    diff: str | None
    cut: bool


class ShownChanges(Answer, frozen=True):
    """The changes of a run, and what waits of them; what a folder holds is in lines of its own."""

    run: int
    kind: SetKind
    of: int | None
    project: str
    began_at: str
    ended_at: str | None
    reviewed: bool
    note: str | None
    origin: Origin | None
    added: int
    removed: int
    total: int
    files: list[WrittenPath]
    held: list[HeldPath]
    hash: str | None


class TurnChanges(Answer, frozen=True):
    """The changes of a turn, those that were applied of it later, or an undo, in short: of many files the first.

    `of` is the run that an answer or an undo belongs to, `undone` counts the files that are as before, `waiting` those that wait.
    """

    run: int
    kind: SetKind
    of: int | None
    began_at: str
    total: int
    undone: int
    added: int
    removed: int
    files: list[WrittenPath]
    held: list[HeldPath]
    waiting: int
    hash: str | None


def turn_changes(shown: Shown, counts: Counts, most: int) -> TurnChanges:
    """One set of changes in short."""
    each = shown.found
    return TurnChanges(
        run=each.number,
        kind=each.kind,
        of=each.undone,
        began_at=each.began_at,
        total=counts.total,
        undone=counts.undone,
        added=counts.added,
        removed=counts.removed,
        files=written(shown.entries),
        held=waiting(shown.held, most),
        waiting=len(shown.held),
        hash=digest_of(shown.held) if shown.held else None,
    )


def shown_changes(shown: Shown) -> ShownChanges:
    """One set of changes for the API."""
    each = shown.found
    lines: list[Entry | Held] = [*shown.entries, *shown.held]
    return ShownChanges(
        run=each.number,
        kind=each.kind,
        of=each.undone,
        project=each.project,
        began_at=each.began_at,
        ended_at=each.ended_at,
        reviewed=each.is_reviewed,
        note=each.note or None,
        origin=each.origin,
        added=sum(line.added or 0 for line in lines),
        removed=sum(line.removed or 0 for line in lines),
        total=len(lines),
        files=written(shown.entries),
        held=waiting(shown.held, MOST_FILES),
        hash=digest_of(shown.held) if shown.held else None,
    )


def written(entries: Sequence[Entry]) -> list[WrittenPath]:
    """The paths that were written, so many that a person can look at them."""
    return [WrittenPath(**_line(each), undone=each.state == "undone") for each in entries[:MOST_FILES]]


def waiting(held: Sequence[Held], limit: int) -> list[HeldPath]:
    """The paths that wait, so many at most."""
    return [
        HeldPath(
            **_line(each),
            root=each.root,
            reason=each.reason,
            why=SENTENCES[each.reason],
            can_be_applied=each.reason not in NEVER_APPLIED,
        )
        for each in held[:limit]
    ]


def difference_of(blobs: Blobs, project: Path, each: Entry | Held, limit: int) -> Difference:
    """The difference of one path."""
    before, after = (_content(blobs, project, each.path, state) for state in (each.before, each.after))
    text, is_cut = None, False
    if before is not None and after is not None:
        try:
            text, is_cut = difference(before, after, limit)
        except ValueError:
            pass  # it is no text
    return Difference(**_line(each), diff=text, cut=is_cut)


def _line(each: Entry | Held) -> dict[str, Any]:
    kind = each.after.kind if each.after.kind != "none" else each.before.kind
    return {"path": each.path, "kind": kind, "change": _change(each), "added": each.added, "removed": each.removed}


def _change(each: Entry | Held) -> Change:
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
