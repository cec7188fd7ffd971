"""A run of the orchestrator and its outcome."""

import json
from dataclasses import dataclass, field
from typing import Any

from parachute.automation.scheduled_agents.models import RunRecord
from parachute.automation.suggestions.models import Suggestion

PART = "suggestions"
"""The part of the computer to which its conversations belong; no module can have this name."""

AGENT = "orchestrator"
MOST = 100
"""Suggestions that one run is about, the newest; the next run sees to others."""


@dataclass(slots=True)
class Outcome:
    """The outcome of a run, by ids of suggestions: doubles that it dropped, entries that it made, what it decided about."""

    record: RunRecord
    dropped: list[str] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    approved: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)

    @property
    def has_done_something(self) -> bool:
        """True if anything was changed."""
        return bool(self.dropped or self.entries or self.approved or self.rejected)

    def as_json(self) -> dict[str, Any]:
        """The form for apps."""
        return {
            "status": self.record.status,
            "run": self.record.id,
            "error": self.record.error,
            "sessionId": self.record.session,
            "dropped": self.dropped,
            "entries": self.entries,
            "approved": self.approved,
            "rejected": self.rejected,
        }


def kind_of(suggestion: Suggestion) -> str:
    """The name of a kind of suggestions in the settings, such as `create:brain`."""
    return f"{suggestion.action}:{suggestion.target_module}"


def doubles(waiting: list[Suggestion]) -> list[tuple[Suggestion, Suggestion]]:
    """(what is proposed once more, what stays in its place), for suggestions from the oldest on.

    Only what would make the very same change of the same version counts. A member of an entry always stays.
    """
    kept: dict[tuple[Any, ...], Suggestion] = {}
    found = []
    for each in sorted(waiting, key=lambda suggestion: suggestion.batch is None):
        payload = json.dumps(json.loads(each.payload), sort_keys=True)
        change = (each.action, each.target_module, each.target_id, payload, each.expected_version)
        first = kept.setdefault(change, each)
        if first is not each and each.batch is None:
            found.append((each, first))
    return found
