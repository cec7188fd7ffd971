"""Removal of words from the audit log: the chain of hashes goes on through what was changed, and breaks that were there stay."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from parachute.security.audit.days import Days
from parachute.security.audit.records import digest, line, previous_of
from parachute.security.audit.seals import Seals


def renamed(folder: Path, blank: Callable[[bytes], bytes], known: Mapping[str, str]) -> dict[str, str]:
    """The hashes that change, each with its new one; nothing is written yet. `known` are those of a removal that was cut off."""
    found = dict(known)
    days = Days(folder)
    for day in days.names():
        with days.file(day) as file:
            for written in file:
                _rewritten(written.removesuffix(b"\n"), blank, found)
    return found


def erase(folder: Path, seals: Seals, blank: Callable[[bytes], bytes], hashes: dict[str, str]) -> None:
    """Write the days that change, and their seals. It may be done again after it was cut off. Errors: OSError, ParachuteError."""
    days = Days(folder)
    for day in days.names():
        with days.file(day) as file:
            before = file.read()
        after = b"".join(
            _rewritten(each.removesuffix(b"\n"), blank, hashes) + each[len(each.removesuffix(b"\n")) :]
            for each in before.splitlines(keepends=True)
        )
        if after != before:
            days.replace(day, after)
    if hashes:
        seals.rename(hashes)


def _rewritten(written: bytes, blank: Callable[[bytes], bytes], hashes: dict[str, str]) -> bytes:
    new, previous = blank(written), previous_of(written)
    if previous is not None and (new != written or previous in hashes):
        fields = json.loads(new)
        fields.pop("previous", None)
        new = line(fields, hashes.get(previous, previous))
    if new != written:
        hashes[digest(written)] = digest(new)
    return new
