"""Seals: the number of records of each day, and the hash of the last one, kept where no agent can write."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private

_LIMIT = 4 * 1024 * 1024
_MOST_BROKEN = 100


class Seal(Struct, frozen=True, forbid_unknown_fields=True):
    """Seal of a day: so many chained records, the hash before the first and that of the last one.

    `removed`: the day was taken away when it was old enough. `broken` are earlier seals of the day, with their records and heads,
    that did not fit any more what was there: what came after them is a new segment, and they stay for ever.
    """

    records: int
    first: str
    head: str
    removed: bool = False
    broken: tuple[tuple[int, str], ...] = ()

    def then(self, found: "Seal") -> "Seal":
        """The seal of what was found in place of what this one is of."""
        return replace(found, broken=(*self.broken, (self.records, self.head))[:_MOST_BROKEN])


class Seals(Struct):
    """The seals of all days, in one private file, and that of the open day in a small one. Every method waits for the disk."""

    path: Path

    @property
    def _open(self) -> Path:
        return self.path.with_suffix(".open.json")

    def read(self) -> dict[str, Seal]:
        """All seals by day, as `YYYY-MM-DD`; error: ParachuteError (`audit_seals_unreadable`)."""
        seals = self._read(self.path)
        for day, seal in self._read(self._open).items():
            seals[day] = max(seal, seals.get(day, seal), key=lambda each: (len(each.broken), each.records))
        return seals

    def _read(self, path: Path) -> dict[str, Seal]:
        try:
            return msgspec.json.decode(read_private(path, _LIMIT).data, type=dict[str, Seal])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ParachuteError(
                f"{path} cannot be read: {error}.",
                "Without it a missing end of a day cannot be detected. Restore it from a backup, "
                "or remove it to seal the days again as they are.",
                status=503,
                key="audit_seals_unreadable",
            ) from error

    def put_open(self, day: str, seal: Seal) -> None:
        """Seal the day that goes on; it costs one small file."""
        atomic_write(self._open, msgspec.json.encode({day: seal}))

    def put(self, day: str, seal: Seal) -> None:
        """Seal a day, in place of what was known of it."""
        with locked(self.path.with_suffix(".lock")):
            self._write({**self.read(), day: seal})

    def mark_removed(self, days: list[str]) -> None:
        """Remember that days were taken away."""
        with locked(self.path.with_suffix(".lock")):
            known = self.read()
            self._write({**known, **{day: replace(known[day], removed=True) for day in days if day in known}})

    def rename(self, hashes: Mapping[str, str]) -> None:
        """Put new hashes in the place of those of records from which words were removed."""
        with locked(self.path.with_suffix(".lock")):
            for path in (self.path, self._open):
                if found := self._read(path):
                    new = {day: _renamed(seal, hashes) for day, seal in found.items()}
                    atomic_write(path, msgspec.json.encode(new))

    def _write(self, days: dict[str, Seal]) -> None:
        atomic_write(self.path, msgspec.json.encode(dict(sorted(days.items()))))


def _renamed(seal: Seal, hashes: Mapping[str, str]) -> Seal:
    return replace(seal, first=hashes.get(seal.first, seal.first), head=hashes.get(seal.head, seal.head))
