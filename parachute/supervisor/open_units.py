"""The common part of both launchers: open units by name, a lock for each, and the errors about them."""

import asyncio
from typing import Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from parachute.base.errors import InvalidInput, Unavailable
from parachute.config.settings.home import Home
from parachute.supervisor.logs import log_path
from parachute.supervisor.models import Status


class _HasStatus(Protocol):
    status: Status


Entry = TypeVar("Entry", bound=_HasStatus)


class OpenUnits(Generic[Entry]):
    """Open units, with what a launcher knows of each."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._entries: dict[str, Entry] = {}
        # An open that arrives while the same unit is being closed has to wait for the end of that.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def status(self) -> list[Status]:
        """All open units."""
        return [entry.status for entry in self._entries.values()]

    def _entry(self, name: str) -> Entry:
        if name not in self._entries:
            raise InvalidInput(f"The unit {name!r} is not open.", key="unit_not_open")
        return self._entries[name]

    def _lock(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    def _down(self, name: str, otherwise: str) -> Unavailable:
        """The error about a unit that does not serve: its reason, or else this sentence."""
        return Unavailable(
            self._entry(name).status.reason or otherwise, f"Its log is {log_path(self._home, name)}.", key="unit_down"
        )

    def _given_up(self, name: str, reason: str, attempts: int) -> str:
        return f"{reason} It failed {attempts} times in five minutes; see {log_path(self._home, name)}."
