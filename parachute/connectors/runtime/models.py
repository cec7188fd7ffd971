"""Records of the server about an open connector, and the interface that answers it."""

from typing import Protocol

from msgspec import Struct

from parachute.connectors.platforms.models import Start, State, Updates


class Connection(Struct, frozen=True):
    """A connector whose unit is open; `state` is what it said last, and `changed` when that was, in seconds since 1970."""

    platform: str
    state: State
    changed: float


class Answers(Protocol):
    """Interface that answers connectors; the socket identifies the platform."""

    async def start(self, platform: str) -> Start:
        """Return what a connector needs to begin; error: Conflict if it shall not."""

    async def updates(self, platform: str, updates: Updates) -> None:
        """Store updates with their position; those that are stored already are no error. Returns when they are on the disk."""

    async def changed(self, platform: str, state: State) -> None:
        """Hear of a state: the connection was made, waits, or was refused, in which case the unit ends."""
