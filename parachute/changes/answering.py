"""The owner's answer to what waits: exactly what was shown is applied, or thrown away."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from parachute.base.errors import Conflict, InvalidInput
from parachute.base.folders import Folder
from parachute.changes.applying import Places, note_origin, noted, write_noted
from parachute.changes.models import NEVER_APPLIED, NOTHING, ChangeSet, Held
from parachute.changes.ordering import in_order
from parachute.changes.planning import Change
from parachute.changes.present import look
from parachute.changes.together import in_use
from parachute.changes.undoing import change_to
from parachute.changes.views import Left
from parachute.changes.writing import Outcome
from parachute.security.origin import Origin

Word = Literal["apply", "throw_away"]

_ANY_SIZE = 1 << 62


def digest_of(held: Sequence[Held]) -> str:
    """The hash of what waits as it is shown."""
    shown = [[each.path, each.reason, *_named(each)] for each in sorted(held, key=lambda each: each.path)]
    return f"sha256:{hashlib.sha256(json.dumps(shown).encode()).hexdigest()}"


def applicable(held: Sequence[Held], waiting: Sequence[Held]) -> list[Held]:
    """Return the changes of `held` that an answer can apply, with the folders that wait themselves and without which it has no place.

    Error: InvalidInput if it is nothing.
    """
    can = {each.path for each in held if each.reason not in NEVER_APPLIED}
    if not can:
        raise InvalidInput(f"{held[0].path} cannot be applied.", "Discard it, or copy it by hand.", key="never_applied")
    above = {str(folder) for path in can for folder in PurePosixPath(path).parents}
    return [each for each in waiting if each.path in can or (each.path in above and each.after.kind == "folder")]


def whole(held: Sequence[Held], waiting: Sequence[Held]) -> list[Held]:
    """Return these with all of a database that is in use: it is answered as one thing."""
    roots = {each.root for each in held if each.reason == "in_use"}
    return [each for each in waiting if each in held or (each.reason == "in_use" and each.root in roots)]


def in_use_by_a_program(path: str) -> Conflict:
    """The error of what cannot be replaced now."""
    return Conflict(f"A running program has {path} open.", "Close the program, and answer again.", key="in_use")


async def apply_held(places: Places, found: ChangeSet, held: Sequence[Held], began_ns: int) -> dict[str, Left]:
    """Write what waits, as it was when it was held, and note it as a change of its own; how each path was disconnected.

    Error: Conflict if the owner's files have changed since, and then they are shown anew.
    """
    with Folder.open_unlinked(Path(found.project)) as project:
        number = await places.store.begin(found.session, Path(found.project), "answer", began_ns, undone=found.number)
        async with places.keeping:
            changes, changed = await asyncio.to_thread(_planned, places, project, held)
            busy = await asyncio.to_thread(_busy, project, changes)
            if busy is not None:
                for change in changes:
                    change.before.drop()
                await places.store.end(number)
                raise in_use_by_a_program(busy)
            if changed:
                await places.store.hold(changed)
                await places.store.end(number)
                raise Conflict(f"{changed[0].path} has changed meanwhile.", "Check it again.", key="changed")
            # The owner has seen it, and an agent has written it all the same.
            await note_origin(places, Path(found.project), changes, found.origin or Origin.AGENT_FILE)
            await places.store.start(noted(number, changes))
        outcome = await write_noted(places.store, number, project, changes)
    await _keep_waiting(places, held, outcome)
    await places.store.end(number)
    if outcome.error is not None:
        raise outcome.error
    return outcome.written


async def _keep_waiting(places: Places, held: Sequence[Held], outcome: Outcome) -> None:
    """Keep the changes waiting that could not be written."""
    left = [each for each in held if each.path in outcome.left]
    if left:
        await places.store.hold(left)
    gone = [each for each in held if each.path not in outcome.left]
    for each in gone:
        await places.store.drop_held(each.number, each.path)


def _planned(places: Places, project: Folder, held: Sequence[Held]) -> tuple[list[Change], list[Held]]:
    """Return the changes to write, and those whose file differs by now from what was shown, as it is."""
    changes: list[Change] = []
    changed: list[Held] = []
    for each in held:
        present = look(places.blobs, project, each.path, _ANY_SIZE)
        if present.state == each.after:
            present.drop()
            continue
        if present.state != each.before:
            changed.append(Held(each.number, each.path, each.root, each.reason, present.state, each.after))
        if each.after.kind == "none" and present.state.kind == "folder":
            changes += _emptied(places, project, each.path)
        changes.append(change_to(places.blobs, each.path, present, each.after))
    if changed:
        for change in changes:
            change.before.drop()
        return [], changed
    places.blobs.keep(each.before.content for each in changes if each.before.content)
    return in_order(changes), []


def _busy(project: Folder, changes: Sequence[Change]) -> str | None:
    """One of these paths that a running program has open."""
    paths = {each.path for each in changes if each.before.state.kind != "folder"}
    return next((path for path in sorted(paths) if in_use(project, path, paths)), None)


def _emptied(places: Places, project: Folder, path: str) -> list[Change]:
    """The deletion of all that is in a folder."""
    found = []
    with project.folder(path) as top:
        for inner, _, entries in top.walk():
            for entry in entries:
                below = "/".join(part for part in (path, inner, entry.name) if part)
                present = look(places.blobs, project, below, _ANY_SIZE)
                found.append(change_to(places.blobs, below, present, NOTHING))
    return found


def _named(each: Held) -> list[object]:
    return [[state.kind, state.mode, state.hash] for state in (each.before, each.after)]
