"""Journal of the update under way, so that the next process knows how to go on; and its lock."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from parachute.base.clock import now
from parachute.base.errors import Conflict
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.base.single_instance import Taken, single_instance
from parachute.ops.updates.models import Phase, Update

_LIMIT = 256 * 1024


class Journal:
    """The journal of one installation; `home` is its state directory."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "updates"
        self._path = self.folder / "update.json"

    def read(self) -> Update | None:
        """The update under way, or the last one; None if there was none. Error: Conflict for a file that cannot be read."""
        try:
            return msgspec.json.decode(read_regular(self._path, _LIMIT), type=Update, dec_hook=_path)
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise Conflict(
                f"The record of the last update cannot be read: {self._path}.",
                "If the computer runs well, remove that file.",
                key="update_unreadable",
            ) from error

    def write(self, update: Update) -> Update:
        """Write down how far an update has come; error: OSError."""
        private_folder(self.folder)
        atomic_write(self._path, msgspec.json.encode(update, enc_hook=str))
        return update

    def enter(self, update: Update, phase: Phase, **changes: Any) -> Update:
        """Begin a phase; error: OSError."""
        return self.write(replace(update, phase=phase, at=now(), step=None, **changes))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the one who updates; error: Conflict while another does."""
        private_folder(self.folder)
        try:
            with single_instance(self.folder / "update.lock"):
                yield
        except Taken as error:
            raise Conflict(
                f"An update is under way (process {error.process}).",
                "`parachute update status` shows how far it is.",
                key="busy",
            ) from error

    def is_held(self) -> bool:
        """Return whether somebody updates."""
        try:
            with self.held():
                return False
        except Conflict:
            return True


def _path(kind: type, value: Any) -> Path:
    if kind is not Path:
        raise TypeError(f"{kind} is not known here")
    return Path(value)
