"""Seals: the number of records of each day, and the hash of the last one, kept where no agent can write."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private

_LIMIT = 4 * 1024 * 1024


class SealsUnreadable(ParachuteError):
    """The file of seals cannot be believed."""

    status = 503
    key = "audit_seals_unreadable"


@dataclass(frozen=True, slots=True)
class Seal:
    """What was known of a day: so many chained records, the hash before the first and that of the last one.

    `removed`: the day was taken away when it was old enough.
    """

    records: int
    first: str
    head: str
    removed: bool = False


@dataclass(slots=True)
class Seals:
    """The seals of all days, in one private file. Every method waits for the disk."""

    path: Path

    def read(self) -> dict[str, Seal]:
        """All seals by day, as `YYYY-MM-DD`; error: SealsUnreadable."""
        try:
            document = json.loads(read_private(self.path, _LIMIT).data)
            return {str(day): Seal(**fields) for day, fields in document.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise SealsUnreadable(
                f"{self.path} cannot be read: {error}.",
                "Without it nobody can say whether the end of a day is missing from the audit log. Restore it from a backup, "
                "or remove it: then the days are sealed anew as they are.",
            ) from error

    def put(self, day: str, seal: Seal) -> None:
        """Seal a day, in place of what was known of it."""
        with locked(self.path.with_suffix(".lock")):
            self._write({**self.read(), day: seal})

    def mark_removed(self, days: list[str]) -> None:
        """Remember that days were taken away."""
        with locked(self.path.with_suffix(".lock")):
            known = self.read()
            self._write({**known, **{day: replace(known[day], removed=True) for day in days if day in known}})

    def _write(self, days: dict[str, Seal]) -> None:
        atomic_write(self.path, json.dumps({day: asdict(seal) for day, seal in sorted(days.items())}))
