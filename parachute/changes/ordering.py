"""The order in which changes are written that are no candidates of a view: those of an undo, and of an answer."""

from collections.abc import Iterable

from parachute.base.steering.names import REPOSITORY
from parachute.changes.git_files import ORDER, part_of
from parachute.changes.planning import Change


def in_order(changes: Iterable[Change]) -> list[Change]:
    """Return changes in their order of writing: obstacles first, then folders, files and, from the bottom up, removals; locked folders last."""
    listed = list(changes)
    freed = {each.path for each in listed if each.before.state.kind == "folder" and each.after.kind in ("file", "link")}
    return sorted(listed, key=lambda each: (_phase(each, freed), each.path))


def _phase(change: Change, freed: set[str]) -> tuple[int, int]:
    depth = change.path.count("/")
    if change.after.kind == "none":
        return (0 if _is_below(change.path, freed) else 3, -depth)
    if change.after.kind == "folder":
        return (1, depth) if change.before.state.kind != "folder" else (4, -depth)
    part = part_of(change.path.removeprefix(f"{REPOSITORY}/")) if change.path.startswith(f"{REPOSITORY}/") else None
    return 2, ORDER[part] if part else 1


def _is_below(path: str, folders: set[str]) -> bool:
    return bool(folders) and any(path.startswith(f"{each}/") for each in folders)
