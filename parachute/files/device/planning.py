"""The steps that make a folder and the vault the same: from what is here, what is there, and what both had last. No time is compared."""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from parachute.files.device.state import Known
from parachute.files.sync.scanning import Found

Word = Literal["agree", "download", "upload", "merge", "delete_here", "delete_there"]


class Step(Struct, frozen=True):
    """One step for one path: `local` and `remote` are the versions that it was decided for, `base` that of the computer which is replaced.

    `is_stale`: the last version in common is from before a restore.
    """

    word: Word
    path: str
    local: Found | None
    remote: str | None
    base: str = ""
    is_stale: bool = False


def planned(known: Mapping[str, Known], local: Mapping[str, Found], unknown: Iterable[str]) -> list[Step]:
    """Return the steps, deletions first: a folder may be where a file was. What is `unknown` is left alone."""
    left_alone = set(unknown)
    steps = [
        step
        for path in sorted(known.keys() | local.keys())
        if path not in left_alone and (step := _step(path, known.get(path), local.get(path))) is not None
    ]
    return sorted(steps, key=lambda step: not step.word.startswith("delete"))


def _step(path: str, known: Known | None, here: Found | None) -> Step | None:
    there = known.remote if known else None
    mine = here.hash if here else None
    is_stale = known is not None and known.is_stale
    base = known.base if known and not is_stale else None
    if mine == there:
        is_new = mine is None or known is None or is_stale or known.base != mine
        return Step("agree", path, here, there) if is_new else None
    if there is None:
        # It was deleted there, and nobody has changed it here.
        if mine == base:
            return Step("delete_here", path, here, None)
        return Step("upload", path, here, None, is_stale=is_stale)
    if mine is None:
        # Who changed it there has not seen that it was deleted here.
        return Step("delete_there" if there == base else "download", path, None, there, there)
    # After a restore the computer may have what this device had long ago.
    is_older = known is not None and is_stale and there in (known.base, *known.past)
    if there == base or is_older:
        return Step("upload", path, here, there, there, is_older)
    if mine == base:
        return Step("download", path, here, there)
    return Step("merge", path, here, there, base or "", is_stale)
