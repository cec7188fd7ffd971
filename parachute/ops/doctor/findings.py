"""What the doctor has found and is not solved yet: `doctor.json` in the state directory, which each of its examinations writes."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from parachute.base.clock import as_text
from parachute.base.files import atomic_write, locked, read_regular
from parachute.ops.doctor.models import Examination

_FILE = "doctor.json"
_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Finding:
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

    def is_hidden(self, now: datetime) -> bool:
        """Return whether the owner does not want to see it yet."""
        return self.hidden_until is not None and datetime.fromisoformat(self.hidden_until) > now


@dataclass(frozen=True, slots=True)
class Findings:
    """The problems by the ids of their checks, and when all checks ran last."""

    found: dict[str, Finding]
    examined_at: datetime | None = None

    @classmethod
    def read(cls, root: Path) -> "Findings":
        """What the file holds; nothing where there is none or it cannot be understood: the next examination writes it anew."""
        try:
            document = json.loads(read_regular(root / _FILE, _LIMIT))
            found = {
                name: Finding(**{**each, "details": tuple(each["details"])}) for name, each in document["found"].items()
            }
            moment = document["examined_at"]
            return cls(found, datetime.fromisoformat(moment) if moment else None)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls({})

    def write(self, root: Path) -> None:
        """Replace the file; error: OSError."""
        moment = self.examined_at
        document = {
            "examined_at": as_text(moment) if moment else None,
            "found": {n: asdict(f) for n, f in self.found.items()},
        }
        atomic_write(root / _FILE, json.dumps(document))


def record(root: Path, examinations: Iterable[Examination], *, is_whole: bool) -> None:
    """Take over the results of an examination: what is wrong is kept, what is well again goes; error: OSError."""
    moment = datetime.now(UTC)
    with locked(root / _FILE):
        before = Findings.read(root)
        found = {} if is_whole else dict(before.found)
        for each in examinations:
            found.pop(each.id, None)
            if each.result.is_urgent:
                found[each.id] = _finding(each, before.found.get(each.id), as_text(moment))
        Findings(found, moment if is_whole else before.examined_at).write(root)


def hide(root: Path, name: str, days: int) -> bool:
    """Hide a problem for some days, as long as it is not solved; False if it is not there (any more). Error: OSError."""
    with locked(root / _FILE):
        before = Findings.read(root)
        if name not in before.found:
            return False
        until = as_text(datetime.now(UTC) + timedelta(days=days))
        hidden: dict[str, Any] = {**asdict(before.found[name]), "hidden_until": until}
        Findings({**before.found, name: Finding(**hidden)}, before.examined_at).write(root)
        return True


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
    )
