"""Finding out what became of the changes that were being written when the server died."""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.base.folders import Folder
from parachute.changes.applying import Places
from parachute.changes.models import Entry, State
from parachute.changes.ordering import in_order
from parachute.changes.planning import Change
from parachute.changes.present import look
from parachute.changes.together import torn
from parachute.changes.undoing import change_to
from parachute.changes.writing import remove_unfinished, write

_ANY_SIZE = 1 << 62


async def recover(places: Places) -> dict[tuple[str, str], dict[str, State]]:
    """Decide by what is there which changes were written, and take back what is half done; the rest belongs to the owner.

    What was taken back of runs, by session and project: it is newer than the turn, and still not the owner's.
    """
    found_back: dict[tuple[str, str], dict[str, State]] = {}
    entries = await places.store.unfinished()
    for number in {each.number for each in entries}:
        found = await places.store.get(number)
        assert found is not None
        mine = [each for each in entries if each.number == number]
        left, back = await asyncio.to_thread(_left, places, Path(found.project), mine)
        if found.kind == "run":
            found_back[found.session, found.project] = back
        await places.store.finish(number, [each.path for each in mine if each.path not in left], left)
    return found_back


def _left(places: Places, project: Path, entries: Sequence[Entry]) -> tuple[set[str], dict[str, State]]:
    """The paths that are as they were before the step, and those of them that were taken back."""
    left: set[str] = set()
    back: list[Change] = []
    with contextlib.suppress(OSError), Folder.open_unlinked(project) as folder:
        remove_unfinished(folder, [each.path for each in entries])
        for each in entries:
            assert each.replaced is not None
            with contextlib.suppress(OSError, ParachuteError):
                present = look(places.blobs, folder, each.path, _ANY_SIZE)
                if present.state == each.replaced:
                    left.add(each.path)
                elif present.state != each.after and _is_half_done(present.state, each.after):
                    back.append(change_to(places.blobs, each.path, present, each.replaced))
                    continue
                present.drop()
        others = left | {each.path for each in back}
        apart = torn({each.path for each in entries} - others, others)
        for each in entries:
            if each.path in apart:
                with contextlib.suppress(OSError, ParachuteError):
                    present = look(places.blobs, folder, each.path, _ANY_SIZE)
                    if present.state == each.after and each.replaced is not None:
                        back.append(change_to(places.blobs, each.path, present, each.replaced))
        written = write(folder, in_order(back)).written
        return left | written.keys(), {path: each.state for path, each in written.items()}
    return left, {}


def _is_half_done(present: State, after: State) -> bool:
    """Return whether only the obstacle was removed, or a folder has no permissions yet."""
    return present.kind == "none" or (present.kind == after.kind == "folder" and present.mode == 0o700)
