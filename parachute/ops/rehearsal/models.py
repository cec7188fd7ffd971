"""Checks of a rehearsal, and how it ended."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the new version had to do: a sentence about how it went, and in `detail` what to do next or what was said."""

    name: str
    ok: bool
    sentence: str
    detail: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the form for `--json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Check":
        """Read what `as_json` wrote; error: KeyError."""
        detail = document["detail"]
        return cls(str(document["name"]), document["ok"] is True, str(document["sentence"]), detail and str(detail))


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Result of a rehearsal.

    `changes` says in sentences what the new version would change. `impossible` is the reason why nothing can be rehearsed on
    this machine: then nothing is known of the new version.
    """

    checks: tuple[Check, ...] = ()
    changes: tuple[str, ...] = ()
    impossible: str | None = None

    @property
    def ok(self) -> bool:
        """Return whether everything was tried, and went well."""
        return self.impossible is None and bool(self.checks) and all(check.ok for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """Return the form for `--json`."""
        return {
            "passed": self.ok,
            "impossible": self.impossible,
            "checks": [check.as_json() for check in self.checks],
            "changes": list(self.changes),
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "Rehearsal":
        """Read what `as_json` wrote; error: KeyError."""
        reason = document["impossible"]
        return cls(
            tuple(Check.from_json(each) for each in document["checks"]),
            tuple(str(each) for each in document["changes"]),
            reason and str(reason),
        )
