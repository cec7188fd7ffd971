"""Undo: what a run has written becomes as it was before, where it is still what the run wrote."""

import asyncio
import os
from collections.abc import Collection, Sequence
from pathlib import Path

from parachute.base.errors import Conflict, NotAllowed, NotFound
from parachute.base.folders import Folder
from parachute.base.steering.judging import ENVIRONMENT, folded, is_told_in_project
from parachute.base.steering.names import REPOSITORY
from parachute.changes import obeyed
from parachute.changes.applying import Places, noted, write_noted
from parachute.changes.blobs import Blobs
from parachute.changes.git_files import part_of
from parachute.changes.models import ChangeSet, Entry, SetKind, State, Undone
from parachute.changes.ordering import in_order
from parachute.changes.planning import Change
from parachute.changes.present import Present, look
from parachute.changes.together import torn

_ANY_SIZE = 1 << 62
_LONGEST_LINK = 4096


def is_chosen(path: str, paths: Sequence[str] | None) -> bool:
    """Return whether a path is one of these or lies below one; all are where none is named."""
    return paths is None or any(path == each or path.startswith(f"{each}/") for each in paths)


async def chosen(places: Places, session: str, number: int | None) -> ChangeSet:
    """The run that is meant, by default the last one that has anything to undo; error: NotFound."""
    if number is None:
        sets = [each for each in await places.store.of_session(session) if each.kind not in ("undo", "redo")]
    else:
        found = await places.store.get(number)
        sets = [found] if found is not None and found.session == session else []
    for each in sets:
        if await places.store.entries(each.number, state="applied"):
            return each
    what = "This conversation has" if number is None else f"The run {number} of this conversation has"
    raise NotFound(f"{what} changed nothing that can be undone.", key="nothing_to_undo")


async def undo(
    places: Places, target: ChangeSet, began_ns: int, paths: Sequence[str] | None, *, by_owner: bool
) -> Undone:
    """Take a run back, or of it what is at these paths or below; the undo can be undone.

    What the owner has decided, and what programs or agents obey, the owner alone takes back or puts back.
    Errors: NotFound, NotAllowed, Conflict, OSError.
    """
    entries = [
        each for each in await places.store.entries(target.number, state="applied") if is_chosen(each.path, paths)
    ]
    if not entries:
        raise NotFound("The run has changed nothing there that can be undone.", key="nothing_to_undo")
    project = Path(target.project)
    told = await places.instructions.told_below(project)
    if not by_owner and (
        target.kind != "run" or await asyncio.to_thread(_steers, places.blobs, project, entries, told)
    ):
        raise NotAllowed(
            "Taking back what you have decided, and putting back what programs obey, needs a key with admin rights.",
            "Make one with: parachute keys create NAME",
            key="not_owner",
        )
    is_redo = target.kind == "undo"
    kind: SetKind = "redo" if is_redo else "undo"
    try:
        folder = _opened(project, is_made_again=by_owner)
    except OSError as error:
        raise Conflict(f"{project} cannot be opened: {error.strerror}.", key="project_gone") from error
    with folder:
        number = await places.store.begin(target.session, project, kind, began_ns, undone=target.number)
        async with places.keeping:
            changes, same, conflicts = await asyncio.to_thread(_planned, places.blobs, folder, entries)
            await places.store.start(noted(number, changes))
        outcome = await write_noted(places.store, number, folder, changes)
    restored = [*outcome.written, *same]
    await places.store.mark(target.number, restored, "undone")
    if is_redo and target.undone is not None:
        # What is there again belongs to the run itself: its undo is what takes it back.
        await places.store.mark(target.undone, restored, "applied")
        await places.store.mark(number, outcome.written, "undone")
    await places.store.end(number)
    if outcome.error is not None:
        raise outcome.error
    left = sorted((*conflicts, *outcome.left))
    return Undone(number if outcome.written else None, tuple(sorted(restored)), tuple(left))


def _opened(project: Path, *, is_made_again: bool) -> Folder:
    """Open the folder, which a run with the owner's own rights may have removed itself."""
    try:
        return Folder.open_unlinked(project)
    except FileNotFoundError:
        if not is_made_again:
            raise
    project.mkdir(mode=0o755, parents=True)
    return Folder.open_unlinked(project)


def _steers(blobs: Blobs, project: Path, entries: Sequence[Entry], told: Collection[str]) -> bool:
    """Return whether an agent that wrote what comes back would have to wait for the owner."""
    named = obeyed.named_by_git(project)
    with Folder.open_unlinked(project) as folder:
        told = obeyed.linked_instructions(folder).union(told)
    for each in entries:
        path, git = each.path, each.path.startswith(f"{REPOSITORY}/")
        if each.before.kind == "none":
            continue
        if obeyed.is_named(path, named) or folded(path) in told or is_told_in_project(path):
            return True
        if git and each.before.kind == "file" and part_of(path.removeprefix(f"{REPOSITORY}/")) is None:
            return True
        if not git and any(obeyed.reason_of(part, (ENVIRONMENT,)) for part in path.split("/")):
            return True
        if each.before.kind == "link":
            text = blobs.read(each.before.hash, _LONGEST_LINK)
            if text is None or obeyed.leads_out(path, os.fsdecode(text)) or obeyed.leads_to(path, named):
                return True
    return False


def _planned(blobs: Blobs, project: Folder, entries: Sequence[Entry]) -> tuple[list[Change], list[str], list[str]]:
    """Return the changes to write, the paths that are as before already, and those that somebody has changed since."""
    changes: list[Change] = []
    same: list[str] = []
    conflicts: list[str] = []
    for each in entries:
        present = look(blobs, project, each.path, _ANY_SIZE)
        is_missing = each.before.kind in ("file", "link") and not blobs.has(each.before.hash)
        if present.state == each.before or present.state != each.after or is_missing:
            (same if present.state == each.before else conflicts).append(each.path)
            present.drop()
            continue
        changes.append(change_to(blobs, each.path, present, each.before))
    apart = torn([each.path for each in changes], conflicts)
    for change in changes:
        if change.path in apart:
            change.before.drop()
    whole = [change for change in changes if change.path not in apart]
    blobs.keep(change.before.content for change in whole if change.before.content)
    return in_order(whole), same, [*conflicts, *apart]


def change_to(blobs: Blobs, path: str, present: Present, after: State) -> Change:
    """The change of a path to a state whose content is kept."""
    content = blobs.kept(after.hash) if after.kind in ("file", "link") else None
    return Change(path, present, after, content)
