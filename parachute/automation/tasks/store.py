"""Tasks that were put off, in the state directory."""

from datetime import date
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import atomic_write, locked, read_regular

_LARGEST = 4 * 1024 * 1024
"""Bytes of the file of what was put off: far more than all that can wait for a day."""


class _PutOff(Struct):
    later: dict[str, date]


class PutOff:
    """`tasks.json` in the state directory: the days on which tasks come into the inbox again. Its methods wait for the disk."""

    def __init__(self, root: Path) -> None:
        self._path = root / "tasks.json"

    def all(self) -> dict[str, date]:
        """The day of each task that was put off; error: Unavailable."""
        try:
            return msgspec.json.decode(read_regular(self._path, _LARGEST), type=_PutOff).later
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, InvalidInput) as error:
            raise Unavailable(
                f"{self._path} cannot be read, so that no task comes into the inbox: {error}.",
                "Bring the file back from a backup, or remove it.",
                key="tasks_unreadable",
            ) from error

    def put_off(self, identifier: str, until: date, today: date) -> None:
        """Note the day of one, and forget those whose day has come; error: Unavailable."""
        try:
            with locked(self._path):
                found = {each: day for each, day in self.all().items() if day > today} | {identifier: until}
                atomic_write(self._path, msgspec.json.format(msgspec.json.encode(_PutOff(found)), indent=1))
        except OSError as error:
            raise Unavailable(f"{self._path} cannot be written: {error.strerror}.", key="tasks_not_written") from error
