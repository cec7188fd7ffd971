"""Reminders in the state directory."""

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.automation.reminders.models import Reminder
from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import atomic_write, locked, read_regular

_LIMIT = 4 * 1024 * 1024


class _Reminders(Struct):
    reminders: dict[str, Reminder]


class ReminderStore:
    """`reminders.json`. Its methods wait for the disk."""

    def __init__(self, root: Path) -> None:
        self._path = root / "reminders.json"

    def all(self) -> dict[str, Reminder]:
        """Every reminder by its id; error: Unavailable."""
        try:
            found = msgspec.json.decode(read_regular(self._path, _LIMIT), type=_Reminders).reminders
            for each in found.values():
                each.check()
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, InvalidInput) as error:
            raise Unavailable(
                f"{self._path} cannot be read, so that you are reminded of nothing: {error}.",
                "Bring the file back from a backup, or remove it.",
                key="reminders_unreadable",
            ) from error
        return found

    def change(self, change: Callable[[dict[str, Reminder]], None]) -> dict[str, Reminder]:
        """Change the reminders, and return them; errors: Unavailable, and those of the change, which then changes nothing."""
        try:
            with locked(self._path):
                found = self.all()
                change(found)
                atomic_write(self._path, msgspec.json.format(msgspec.json.encode(_Reminders(found)), indent=1))
        except OSError as error:
            raise Unavailable(
                f"{self._path} cannot be written: {error.strerror}.", key="reminders_not_written"
            ) from error
        return found
