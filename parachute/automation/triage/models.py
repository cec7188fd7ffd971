"""A run of the orchestrator and its outcome."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct, field

from parachute.automation.scheduled_agents.models import RunRecord, Status
from parachute.automation.suggestions.models import Suggestion
from parachute.base.answers import Answer

PART = "suggestions"
"""The part of the computer to which its conversations belong; no module can have this name."""

AGENT = "orchestrator"
MOST = 100
"""Suggestions that one run is about, the newest; the next run sees to others."""


class Outcome(Struct):
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


class OrchestratorState(Answer, frozen=True, rename="camel", kw_only=True):
    """The settings of the orchestrator, its state, and its last runs, newest first."""

    time: str | None
    resolves: list[str]
    status: Literal["running", "ready"]
    next_run_at: str | None
    retry_at: str | None
    last_run_at: str | None
    last_status: Status | None
    last_error: str | None
    runs: Sequence[RunRecord]


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
        payload = json.dumps(each.payload, sort_keys=True)
        change = (each.action, each.target_module, each.target_id, payload, each.expected_version)
        first = kept.setdefault(change, each)
        if first is not each and each.batch is None:
            found.append((each, first))
    return found
