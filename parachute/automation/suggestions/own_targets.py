"""Targets of suggestions that belong to the computer and to no module: only an owner with every right decides there."""

import asyncio
from typing import Any, Protocol

from parachute.automation.suggestions.models import Suggestion, Version
from parachute.automation.suggestions.own_memory import MEMORY
from parachute.automation.suggestions.own_settings import SETTINGS
from parachute.automation.suggestions.previews import Previewed
from parachute.base.errors import Conflict

CONTEXTS = "contexts"
"""In the place of a module's name; no module can have it."""

CURATOR = "curator"
"""Author of contexts that needs no approval where the owner allowed it: the beginning of `resolved_by`."""

OWN_TARGETS = frozenset((SETTINGS, MEMORY, CONTEXTS))

_NOT_UNDONE = {
    SETTINGS: Conflict(
        "A setting cannot be taken back here.",
        "`parachute config set` gives it another value.",
        key="setting_not_undone",
    ),
    MEMORY: Conflict(
        "This memory cannot be taken back here.", "Its file in the vault can be edited.", key="memory_not_undone"
    ),
}


class OwnTarget(Protocol):
    """A target of the computer itself."""

    async def inspect(self, payload: dict[str, Any]) -> tuple[Version | None, str]:
        """(version, title) of what a payload is about; error: InvalidInput."""

    async def apply(self, suggestion: Suggestion, payload: dict[str, Any], *, by_owner: bool) -> Any:
        """Make the change; `by_owner`: they have seen it. Errors: Conflict, InvalidInput."""

    async def preview(self, suggestion: Suggestion, payload: dict[str, Any]) -> Previewed:
        """Return the change of a suggestion that waits, or the one that it made."""

    async def is_applied(self, payload: dict[str, Any]) -> bool:
        """True if the change was made."""

    async def undo(self, suggestion: Suggestion) -> Version | None:
        """Take it back, and give the version then; error: Conflict."""


class DiskTarget(Protocol):
    """A target of which nothing is taken back; every method waits for the disk."""

    def inspect(self, payload: dict[str, Any]) -> tuple[Version | None, str]:
        """See `OwnTarget`."""

    def apply(self, payload: dict[str, Any], expected_version: object) -> Any:
        """See `OwnTarget`."""

    def preview(self, payload: dict[str, Any], is_waiting: bool) -> Previewed:
        """See `OwnTarget`."""

    def is_applied(self, payload: dict[str, Any]) -> bool:
        """See `OwnTarget`."""


class OnDisk(OwnTarget):
    """A target whose methods wait for the disk, in threads."""

    def __init__(self, name: str, target: DiskTarget) -> None:
        self._name = name
        self._target = target

    async def inspect(self, payload: dict[str, Any]) -> tuple[Version | None, str]:
        """See `OwnTarget`."""
        return await asyncio.to_thread(self._target.inspect, payload)

    async def apply(self, suggestion: Suggestion, payload: dict[str, Any], *, by_owner: bool) -> Any:
        """See `OwnTarget`."""
        return await asyncio.to_thread(self._target.apply, payload, suggestion.expected_version)

    async def preview(self, suggestion: Suggestion, payload: dict[str, Any]) -> Previewed:
        """See `OwnTarget`."""
        return await asyncio.to_thread(self._target.preview, payload, suggestion.status == "pending")

    async def is_applied(self, payload: dict[str, Any]) -> bool:
        """See `OwnTarget`."""
        return await asyncio.to_thread(self._target.is_applied, payload)

    async def undo(self, suggestion: Suggestion) -> Version | None:
        """Refuse."""
        raise _NOT_UNDONE[self._name]
