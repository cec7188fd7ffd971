"""The results of the last backup, verification and drill: `~/.parachute/backup/state.json`."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from parachute.base.clock import now
from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, locked, private_folder, read_regular
from parachute.ops.backup.places import FOLDER

CREATE, VERIFY, DRILL = "create", "verify", "drill"
OK, INCOMPLETE, FAILED = "ok", "incomplete", "failed"
_FILE, _LIMIT, _VERSION = "state.json", 256 * 1024, 1
_LATE = {CREATE: timedelta(days=3), DRILL: timedelta(days=40)}
_CALLED = {CREATE: "backup", VERIFY: "verification of a backup", DRILL: "drill of a backup"}


class State(Struct, frozen=True):
    """Results by operation (`create`, `verify`, `drill`): `at` (ISO 8601 in UTC), `result` (`ok`, `incomplete` or `failed`),

    `message` (a sentence, or null), `hint` (what to do next, or null), `backup` (its id, or null), `succeeded_at`, the last time that it was well, and `last`,
    the id of the last backup that it came to an end with.
    """

    operations: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, home: Path) -> "State":
        """The state in a state directory; an empty one if there is none, or none that can be read."""
        try:
            document = json.loads(read_regular(home / FOLDER / _FILE, _LIMIT))
            found = {name: dict(document[name]) for name in (CREATE, VERIFY, DRILL) if name in document}
            return cls({name: value for name, value in found.items() if _is_sound(value)})
        except (OSError, ValueError, TypeError, RecursionError, ParachuteError):
            return cls({})

    @property
    def last_made(self) -> str | None:
        """The backup that was made last, None if that is not known."""
        found = self.operations.get(CREATE, {}).get("last")
        return found if isinstance(found, str) else None

    def concerns(self, moment: datetime | None = None) -> list[str]:
        """Return what needs attention, a sentence each: what failed, and what was not done for too long."""
        moment = moment or datetime.now(UTC)
        found = []
        for name, entry in self.operations.items():
            if entry["result"] != OK:
                what = "failed" if entry["result"] == FAILED else "is not complete"
                found.append(f"The last {_CALLED[name]} ({entry['at']}) {what}: {entry['message']}")
        for name, longest in _LATE.items():
            last = self.operations.get(name, {}).get("succeeded_at")
            if last is None:
                if name == CREATE and name not in self.operations:
                    found.append("No backup was made yet.")
            # One of the future is of a clock that was wrong, and would hide for years that none is made any more.
            elif abs(moment - datetime.fromisoformat(last)) > longest:
                found.append(f"The last {_CALLED[name]} that went well is of {last[:10]}.")
        return found


def record(
    home: Path, operation: str, result: str, message: str | None = None, backup: str | None = None, **facts: Any
) -> None:
    """Note how an operation has ended; error: OSError."""
    path = private_folder(home / FOLDER) / _FILE
    with locked(path):
        before, moment = State.read(home).operations, now()
        earlier = before.get(operation, {})
        entry = {"at": moment, "result": result, "message": message, "backup": backup, **facts}
        entry["succeeded_at"] = moment if result == OK else earlier.get("succeeded_at")
        entry["last"] = backup if backup and result != FAILED else earlier.get("last")
        atomic_write(path, json.dumps({"version": _VERSION, **before, operation: entry}, indent=2))


@contextmanager
def recorded(home: Path, operation: str, about: dict[str, str]) -> Iterator[None]:
    """Record an error that the block ends with; it puts the `backup` that it is about into `about` when that is known."""
    try:
        yield
    except (ParachuteError, OSError) as error:
        message = error.message if isinstance(error, ParachuteError) else f"{error.strerror}: {error.filename}."
        hint = error.hint if isinstance(error, ParachuteError) else None
        record(home, operation, FAILED, message, about.get("backup"), hint=hint)
        raise


def _is_sound(entry: Mapping[str, Any]) -> bool:
    times = (entry.get("at"), entry.get("succeeded_at") or entry.get("at"))
    are_times = all(isinstance(time, str) and datetime.fromisoformat(time).tzinfo for time in times)
    return are_times and entry.get("result") in (OK, INCOMPLETE, FAILED)
