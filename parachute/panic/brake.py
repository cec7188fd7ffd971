"""Whether all agents are stopped: one file in the folder of trust, which every program of this computer asks."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from parachute.clock import as_text, now
from parachute.errors import ParachuteError, Unavailable
from parachute.files import atomic_write, read_regular

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

    def as_json(self) -> dict[str, str]:
        """The form for apps, and that of the file."""
        return asdict(self)

    def refusal(self) -> Stopped:
        """What whoever wants to start an agent is told."""
        return Stopped(f"All agents are stopped since {self.since}.", "`parachute resume` lets them work again.")


class Brake:
    """The state lies in the file alone: it holds after a kill -9, and for a program that was not asked.

    While anything is there under the name of the file, the brake is pulled, also when it cannot be read.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / FILE

    @property
    def panic(self) -> Panic | None:
        """Since when and by whom it is pulled, None if it is not; asked before everything that begins, so it costs a look."""
        try:
            changed = self._path.lstat().st_mtime
        except FileNotFoundError:
            return None
        except OSError:
            return Panic(now(), UNKNOWN)
        try:
            document = json.loads(read_regular(self._path, _LIMIT))
            return Panic(str(document["since"])[:_TEXT_LIMIT], str(document["by"])[:_TEXT_LIMIT])
        except (OSError, ValueError, KeyError, TypeError, RecursionError, ParachuteError):
            return Panic(as_text(datetime.fromtimestamp(changed, UTC)), UNKNOWN)

    def check(self) -> None:
        """See that agents may be started; error: Stopped."""
        if found := self.panic:
            raise found.refusal()

    def pull(self, by: str) -> Panic:
        """Stop agents from being started, before any is ended; who pulled first stands. Error: OSError."""
        if found := self.panic:
            return found
        pulled = Panic(now(), by[:_TEXT_LIMIT])
        try:
            atomic_write(self._path, json.dumps(pulled.as_json()))
        except OSError:
            # An empty file needs no room, and a disk that an agent has filled must not keep it alive.
            self._path.touch(mode=0o600)
        return pulled

    def release(self) -> Panic | None:
        """Let agents be started again, and say what held them; error: OSError."""
        found = self.panic
        self._path.unlink(missing_ok=True)
        return found
