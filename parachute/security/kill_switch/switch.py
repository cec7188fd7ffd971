"""The state of the kill switch: one file in the state directory, which every program of this computer reads."""

import json
import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from parachute.base.clock import as_text, now
from parachute.base.disk_errors import disk_error
from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.files import atomic_write, read_regular

log = logging.getLogger(__name__)

FILE = "panic.json"
UNKNOWN = "somebody"
_LIMIT = 4096
_TEXT_LIMIT = 200


class Stopped(Unavailable):
    """All agents are stopped, so none is started."""

    key = "panic"


@dataclass(frozen=True, slots=True)
class Panic:
    """Since when all agents are stopped (ISO 8601 in UTC), by whom, and whether a restart keeps it (`saved`)."""

    since: str
    by: str
    saved: bool = True

    @property
    def warning(self) -> str | None:
        """Tell a person what does not hold while it is not on the disk."""
        if self.saved:
            return None
        return (
            "The disk could not be written: this holds until the computer is restarted, which lets agents work again. Free space, or "
            "make the disk writable, and it is saved by itself."
        )

    def refusal(self) -> Stopped:
        """Return the error for whoever wants to start an agent."""
        return Stopped(f"All agents are stopped since {self.since}.", "`parachute resume` lets them work again.")


_unsaved: dict[Path, Panic] = {}
"""By file, what the disk had no room for; for the whole process, since each part of it has a switch of its own."""


class KillSwitch:
    """The switch is engaged while anything lies under the name of its file: it holds after a kill -9 and for every program.

    A file that cannot be read engages it too. Where the disk does not take the file, this process remembers it until it does.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / FILE

    @property
    def panic(self) -> Panic | None:
        """Return since when and by whom it is engaged, None if it is not; cheap, as it is asked before everything that starts."""
        try:
            changed = self._path.lstat().st_mtime
        except FileNotFoundError:
            # One that left at least its file ended when that was removed.
            return found if (found := _unsaved.get(self._path)) and not found.saved else None
        except OSError:
            return Panic(now(), UNKNOWN)
        try:
            document = json.loads(read_regular(self._path, _LIMIT))
            return Panic(str(document["since"])[:_TEXT_LIMIT], str(document["by"])[:_TEXT_LIMIT])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, ParachuteError):
            if found := _unsaved.get(self._path):
                return found  # the file had no room for it
            return Panic(as_text(datetime.fromtimestamp(changed, UTC)), UNKNOWN)

    def check(self) -> None:
        """Raise Stopped while agents may not be started."""
        if found := self.panic:
            raise found.refusal()

    def engage(self, by: str) -> Panic:
        """Keep agents from being started, before any is ended; the first one stands. It never fails: see `saved`."""
        if found := self.panic:
            return found if found.saved else self._save(found)
        return self._save(Panic(now(), by[:_TEXT_LIMIT], saved=False))

    def save(self) -> None:
        """Write what the disk did not take before, unless the switch was released meanwhile."""
        if (found := _unsaved.get(self._path)) and self.panic:
            self._save(found)
        else:
            _unsaved.pop(self._path, None)

    def release(self) -> Panic | None:
        """Let agents be started again, and return what held them; errors: Unavailable where the disk takes nothing, OSError.

        After an error nothing has changed, also where only processes remember it: on such a disk no agent could work.
        """
        if found := self.panic:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                if known := disk_error(error, self._path):
                    raise type(known)(f"All agents stay stopped. {known.message}", known.hint) from error
                raise
        _unsaved.pop(self._path, None)
        return found

    def _save(self, panic: Panic) -> Panic:
        _unsaved[self._path] = panic  # before the disk is asked, which may hang
        try:
            try:
                atomic_write(self._path, json.dumps({"since": panic.since, "by": panic.by}))
            except OSError:
                # An empty file needs no room, and a disk that an agent has filled must not keep it alive.
                self._path.touch(mode=0o600)
                _unsaved[self._path] = replace(panic, saved=True)
                return _unsaved[self._path]
        except OSError as error:
            log.error("That all agents are stopped cannot be saved: %s", error)
            return panic
        _unsaved.pop(self._path, None)
        return replace(panic, saved=True)
