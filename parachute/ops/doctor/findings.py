"""Unsolved findings of the doctor: `doctor.json` in the state directory, which each of its examinations writes."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from parachute.base.clock import as_text
from parachute.base.files import atomic_write, locked, read_regular
from parachute.ops.doctor.models import Examination

_FILE = "doctor.json"
_LIMIT = 4 * 1024 * 1024
_REPAIRS = 20
_CHARACTERS = 1000


class Finding(Struct, frozen=True):
    """One problem by the id of its check; times are ISO 8601 in UTC: `since` when it was found first, `examined_at` last."""

    id: str
    title: str
    message: str
    next: str | None
    details: tuple[str, ...]
    fix: str | None
    since: str
    examined_at: str
    hidden_until: str | None = None
    can_fix: bool = False
    """A repair of it leaves the server running, so that a device can ask for it."""

    def is_hidden(self, now: datetime) -> bool:
        """Return whether the owner does not want to see it yet."""
        return self.hidden_until is not None and datetime.fromisoformat(self.hidden_until) > now


class Repair(Struct, frozen=True):
    """The receipt of a repair: the check, when (ISO 8601 in UTC), whether it succeeded, and what was done."""

    id: str
    at: str
    done: bool
    message: str


class Findings(Struct, frozen=True):
    """The problems by the ids of their checks, and when all checks ran last.

    `checks` are the last results of all checks in the form for the API, `dismissed` the keys of problems that the owner does
    not want to hear of as long as they are the same, `repairs` the newest receipts, the latest first.
    """

    found: dict[str, Finding]
    examined_at: datetime | None = None
    checks: dict[str, dict[str, Any]] = field(default_factory=dict)
    dismissed: frozenset[str] = frozenset()
    repairs: tuple[Repair, ...] = ()

    @classmethod
    def read(cls, root: Path) -> "Findings":
        """Return the contents of the file; empty where there is none or it cannot be understood: the next examination writes it anew."""
        try:
            return msgspec.json.decode(read_regular(root / _FILE, _LIMIT), type=cls)
        except (OSError, ValueError, RecursionError):
            return cls({})

    def shown(self, now: datetime) -> list[Finding]:
        """Return the problems that the owner has neither hidden nor dismissed."""
        return [
            each
            for name, each in self.found.items()
            if not each.is_hidden(now) and self.checks.get(name, {}).get("key") not in self.dismissed
        ]

    def write(self, root: Path) -> None:
        """Replace the file; error: OSError."""
        atomic_write(root / _FILE, msgspec.json.encode(self, order="deterministic"))


def record(root: Path, examinations: Iterable[Examination], *, is_whole: bool) -> None:
    """Take over the results of an examination: what is wrong is kept, what is well again goes; error: OSError."""
    moment = datetime.now(UTC)
    with locked(root / _FILE):
        before = Findings.read(root)
        found = {} if is_whole else dict(before.found)
        checks = {} if is_whole else dict(before.checks)
        for each in examinations:
            found.pop(each.id, None)
            checks[each.id] = {**each.as_json(), "can_fix": _can_fix(each), "examined_at": as_text(moment)}
            if each.result.is_urgent:
                found[each.id] = _finding(each, before.found.get(each.id), as_text(moment))
        # What was solved and comes back is heard of again.
        dismissed = before.dismissed & {check["key"] for check in checks.values()}
        examined_at = moment if is_whole else before.examined_at
        replace(before, found=found, examined_at=examined_at, checks=checks, dismissed=dismissed).write(root)


def record_repair(root: Path, name: str, message: str, *, done: bool) -> None:
    """Keep the receipt of a repair; error: OSError."""
    with locked(root / _FILE):
        before = Findings.read(root)
        made = Repair(name, as_text(datetime.now(UTC)), done, message[:_CHARACTERS])
        replace(before, repairs=(made, *before.repairs)[:_REPAIRS]).write(root)


def dismiss(root: Path, key: str, *, is_dismissed: bool) -> bool:
    """Dismiss a problem as long as it is the same, or take that back; False if it is not there (any more). Error: OSError."""
    with locked(root / _FILE):
        before = Findings.read(root)
        if key not in {check.get("key") for check in before.checks.values()}:
            return False
        dismissed = before.dismissed | {key} if is_dismissed else before.dismissed - {key}
        replace(before, dismissed=dismissed).write(root)
        return True


def hide(root: Path, name: str, days: int) -> bool:
    """Hide a problem for some days, as long as it is not solved; False if it is not there (any more). Error: OSError."""
    with locked(root / _FILE):
        before = Findings.read(root)
        if name not in before.found:
            return False
        until = as_text(datetime.now(UTC) + timedelta(days=days))
        hidden = replace(before.found[name], hidden_until=until)
        replace(before, found={**before.found, name: hidden}).write(root)
        return True


def _can_fix(each: Examination) -> bool:
    return each.result.fix is not None and not each.result.fix.ends_server


def _finding(each: Examination, before: Finding | None, moment: str) -> Finding:
    result = each.result
    return Finding(
        id=each.id,
        title=each.check.title,
        message=result.message,
        next=result.hint,
        details=result.details,
        fix=result.fix.summary if result.fix else None,
        since=before.since if before else moment,
        examined_at=moment,
        hidden_until=before.hidden_until if before else None,
        can_fix=_can_fix(each),
    )
