"""Applying a view: one look at it, and batch after batch what passes is written and what does not is held."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from parachute.base.disk_errors import disk_error
from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.base.steering.names import REPOSITORY
from parachute.changes import obeyed
from parachute.changes.blobs import Blobs
from parachute.changes.contents import unpacked
from parachute.changes.instructions import Instructions
from parachute.changes.lineage import Lineage
from parachute.changes.models import Applied, Entry, Held
from parachute.changes.planning import Change, Plan, Planner
from parachute.changes.scanning import Candidate, Scan, is_hidden
from parachute.changes.store import ChangeStore
from parachute.changes.together import root_of
from parachute.changes.views import View
from parachute.changes.writing import Outcome, write
from parachute.security.origin import Origin

_BATCH = 1_000


class Places(Struct, frozen=True):
    """Stores of changes and of what came of them, and how large a file may be; `keeping` is held from when a content is kept until a row names it."""

    store: ChangeStore
    lineage: Lineage
    instructions: Instructions
    blobs: Blobs
    keeping: asyncio.Lock
    limit: int


async def apply(places: Places, view: View) -> Applied:
    """Apply what a view has and was not handled yet; what went wrong is in the outcome, and is tried again the next time."""
    count, problem = 0, None
    try:
        with Folder.open_unlinked(view.project) as project, Folder.open(view.upper) as upper:
            named = await asyncio.to_thread(obeyed.named_by_git, view.project)
            scan = Scan(project, upper, view.known, named)
            told = await asyncio.to_thread(obeyed.linked_instructions, project)
            told |= await places.instructions.told_below(view.project)
            planner = Planner(places.blobs, project, upper, view, places.limit, named, told)
            written = [path for path, left in view.left.items() if left.state.kind != "none"]
            candidates = await asyncio.to_thread(scan.run, written)
            for batch in _batches(candidates):
                async with places.keeping:
                    plan = await asyncio.to_thread(planner.plan, batch)
                    await _note(places, view, plan)
                outcome = await write_noted(places.store, view.number, project, plan.changes)
                count += len(outcome.written)
                await _take(places, view, planner, plan, outcome)
                if outcome.error is not None:
                    raise outcome.error
            view.known |= scan.noted
            looked_at = scan.visited | {each.path for each in candidates}
            gone = await asyncio.to_thread(_not_there, view, upper, view.waiting.keys() - looked_at)
            await _forget(places.store, view, gone)
    except (OSError, ParachuteError) as error:
        known = disk_error(error) if isinstance(error, OSError) else error
        problem = str(known or error)
    return Applied(view.number, count, len(view.waiting), problem)


def _batches(candidates: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """The candidates in turn; what leads to objects of git is judged when these are written, so it comes in another batch."""
    begin = 0
    for end in range(1, len(candidates) + 1):
        is_last = end == len(candidates)
        if is_last or end - begin == _BATCH or (candidates[end].leads and not candidates[end - 1].leads):
            yield candidates[begin:end]
            begin = end


async def write_noted(store: ChangeStore, number: int, project: Folder, changes: Sequence[Change]) -> Outcome:
    """Write changes that are noted already, and note what became of them."""
    if not changes:
        return Outcome()
    outcome = await asyncio.to_thread(write, project, changes)
    await store.finish(number, outcome.written, outcome.left)
    return outcome


def noted(number: int, changes: Iterable[Change]) -> list[Entry]:
    """The rows of changes that are about to be written."""
    return [
        Entry(number, each.path, each.before.state, each.after, "applying", each.before.state, each.added, each.removed)
        for each in changes
    ]


async def note_origin(places: Places, project: Path, changes: Sequence[Change], origin: Origin) -> None:
    """Note where changes come from that are about to be written: names, contents, and what git has of these."""
    written = [each for each in changes if each.after.kind != "none"]
    # What was there before, and is elsewhere now, came from where it came from.
    before = {each.before.state.hash for each in changes}
    files = [each.after for each in written if each.after.kind == "file" and each.after.hash not in before]
    contents = [(each.hash, each.size) for each in files]
    paths = [f"{each.path}/" if each.after.kind == "folder" else each.path for each in written]
    for each in written:
        part = each.path.removeprefix(f"{REPOSITORY}/objects/")
        if each.content is not None and part.startswith("pack/"):
            paths.append("")  # files that come from it have hashes that nobody knows
        elif each.content is not None and part != each.path:
            content = await asyncio.to_thread(unpacked, each.content.chunks())
            contents += [content] if content is not None else []
    await places.lineage.wrote(project, paths, origin, contents)


async def _note(places: Places, view: View, plan: Plan) -> None:
    if plan.held:
        await places.store.set_origin(view.number, view.origin())
        await places.store.hold(plan.held)
    if plan.changes:
        await places.store.set_origin(view.number, view.origin())
        await note_origin(places, view.project, plan.changes, view.origin())
        await places.store.start(noted(view.number, plan.changes))


async def _take(places: Places, view: View, planner: Planner, plan: Plan, outcome: Outcome) -> None:
    """Remember what became of a batch."""
    held = {each.path: each for each in plan.held}
    for change in plan.changes:
        reason = outcome.left.get(change.path)
        if change.path in outcome.written:
            view.left[change.path] = outcome.written[change.path]
            plan.done[change.path] = change.seen
        elif reason is not None and outcome.error is None:
            async with places.keeping:
                if change.content is not None:
                    await asyncio.to_thread(places.blobs.keep, [change.content])
                root = root_of(change.path) if reason == "in_use" else change.path
                late = Held(view.number, change.path, root, reason, change.before.state, change.after)
                await places.store.hold([late])
            planner.conflict(change.path)
            held[change.path] = late
            plan.done[change.path] = change.seen
        elif change.content is not None:
            change.content.drop()  # the next look copies it again
    view.known |= {path: seen for path, seen in plan.done.items() if seen}
    await _forget(places.store, view, (view.waiting.keys() & plan.done.keys()) - held.keys())
    view.waiting = {path: each for path, each in view.waiting.items() if path not in outcome.written} | held


def _not_there(view: View, upper: Folder, paths: Iterable[str]) -> set[str]:
    """Choose the waiting paths at which the view has nothing to say any more; below a folder that was handled none is looked at."""
    return {path for path in paths if view.waiting[path].after.kind != "none" or not is_hidden(upper, path)}


async def _forget(store: ChangeStore, view: View, paths: set[str]) -> None:
    """Forget what waited at these paths and no longer exists."""
    if paths:
        await store.unhold(view.session, paths, thrown=False)
        view.waiting = {path: each for path, each in view.waiting.items() if path not in paths}
