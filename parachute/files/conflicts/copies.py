"""Copies that other programs for synchronising put beside a file, found by their names."""

from collections.abc import Iterator
from typing import NamedTuple

from parachute.base.errors import InvalidInput
from parachute.base.folders import Folder, TooMany
from parachute.core.conflict_copies import numbered_of, original_of
from parachute.files.sync.merging import LARGEST, shares_most, text_of
from parachute.security.permissions.vault_files import may_list

_DEEPEST, _MOST_ENTRIES, _MOST = 64, 200_000, 200


class Copy(NamedTuple):
    """A copy, and the file that it is one of."""

    path: str
    original: str


def find_copies(root: Folder) -> list[Copy]:
    """Return the copies beside which their original is; waits for the disk. Error: OSError without a vault."""
    found: list[Copy] = []
    try:
        for place, _, entries in root.walk(deepest=_DEEPEST, most=_MOST_ENTRIES, unreadable=lambda *_: None):
            entries[:] = [entry for entry in entries if may_list(entry.name, hidden=False)]
            names = {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}
            prefix = f"{place}/" if place else ""
            for name, original in _named(names):
                found.append(Copy(f"{prefix}{name}", f"{prefix}{original}"))
            for name in names:
                other = numbered_of(name)
                if other in names and _are_alike(root, f"{prefix}{name}", f"{prefix}{other}"):
                    found.append(Copy(f"{prefix}{name}", f"{prefix}{other}"))
            if len(found) >= _MOST:
                break
    except TooMany:
        pass  # those that were found are shown
    return sorted(found)[:_MOST]


def _named(names: set[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        original = original_of(name)
        if original is not None and original in names:
            yield name, original


def _are_alike(root: Folder, one: str, other: str) -> bool:
    try:
        first, second = (text_of(root.read(path, LARGEST)) for path in (one, other))
    except (OSError, InvalidInput):
        return False
    return first is not None and second is not None and shares_most(first, second)
