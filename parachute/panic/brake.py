"""Whether all agents are stopped: one file in the folder of trust, which every program of this computer asks."""

import json
import logging
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from parachute.clock import as_text, now
from parachute.errors import ParachuteError, Unavailable
from parachute.files import atomic_write, read_regular

log = logging.getLogger(__name__)

FILE = "panic.json"
UNKNOWN = "somebody"
_LIMIT = 4096
_TEXT_LIMIT = 200


class Stopped(Unavailable):
    """All agents are stopped, so that none is started."""

    key = "panic"


@dataclass(frozen=True, slots=True)
class Panic:
    """Since when all agents are stopped (ISO 8601 in UTC), and by whom."""

    since: str
    by: str
    saved: bool = True
    """Whether it is on the disk: what is not ends with the processes that know of it."""

    def as_json(self) -> dict[str, Any]:
        """The form for apps."""
        return asdict(self)

    @property
    def warning(self) -> str | None:
        """What a person has to know of one that is not on the disk."""
        if self.saved:
            return None
        return (
            "The disk could not be written: this holds until the computer is restarted, which lets agents work again. Free space, or "
            "make the disk writable, and it is saved by itself."
        )

    def refusal(self) -> Stopped:
        """What whoever wants to start an agent is told."""
        return Stopped(f"All agents are stopped since {self.since}.", "`parachute resume` lets them work again.")


_unsaved: dict[Path, Panic] = {}
"""By file, what this process was told and the disk had no room for: every part of the process asks for it."""


class Brake:
    """The state lies in the file: it holds after a kill -9, and for a program that was not asked.

    While anything is there under the name of the file, the brake is pulled, also when it cannot be read. Where the disk does
    not take the file, this process remembers it until it does.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / FILE

    @property
    def panic(self) -> Panic | None:
        """Since when and by whom it is pulled, None if it is not; asked before everything that begins, so it costs a look."""
        try:
            changed = self._path.lstat().st_mtime
        except FileNotFoundError:
            # What left at least its file is over with that.
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
        """See that agents may be started; error: Stopped."""
        if found := self.panic:
            raise found.refusal()

    def pull(self, by: str) -> Panic:
        """Stop agents from being started, before any is ended; who pulled first stands. It never fails: see `saved`."""
        if found := self.panic:
            return found if found.saved else self._saved(found)
        return self._saved(Panic(now(), by[:_TEXT_LIMIT], saved=False))

    def save(self) -> None:
        """Write what the disk did not take before, unless it is over meanwhile."""
        if (found := _unsaved.get(self._path)) and self.panic:
            self._saved(found)
        else:
            _unsaved.pop(self._path, None)

    def release(self) -> Panic | None:
        """Let agents be started again, and say what held them; error: OSError."""
        found = self.panic
        self._path.unlink(missing_ok=True)
        _unsaved.pop(self._path, None)
        return found

    def _saved(self, pulled: Panic) -> Panic:
        _unsaved[self._path] = pulled  # before the disk is asked, which may hang
        try:
            try:
                atomic_write(self._path, json.dumps({"since": pulled.since, "by": pulled.by}))
            except OSError:
                # An empty file needs no room, and a disk that an agent has filled must not keep it alive.
                self._path.touch(mode=0o600)
                _unsaved[self._path] = replace(pulled, saved=True)
                return _unsaved[self._path]
        except OSError as error:
            log.error("That all agents are stopped cannot be saved: %s", error)
            return pulled
        _unsaved.pop(self._path, None)
        return replace(pulled, saved=True)
