"""What suggestions are about that is the computer's own and no module's: only an owner with every right decides there."""

from typing import Any, Protocol

from parachute.automation.suggestions.models import Version
from parachute.automation.suggestions.own_memory import MEMORY
from parachute.automation.suggestions.own_settings import SETTINGS
from parachute.automation.suggestions.previews import Previewed

OWN_TARGETS = frozenset((SETTINGS, MEMORY))


class OwnTarget(Protocol):
    """A target; every method waits for the disk."""

    def inspect(self, payload: dict[str, Any]) -> tuple[Version | None, str]:
        """(version, title) of what a payload is about; error: InvalidInput."""

    def apply(self, payload: dict[str, Any], expected_version: object) -> Any:
        """Make the change; errors: Conflict, InvalidInput."""

    def preview(self, payload: dict[str, Any], is_waiting: bool) -> Previewed:
        """What it changes now, or what it changed if it does not wait any more."""

    def is_applied(self, payload: dict[str, Any]) -> bool:
        """True if the change was made."""
