"""Journal of the update under way, so that the next process knows how to go on; and its lock."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from parachute.base.clock import now
from parachute.base.errors import Conflict
from parachute.base.files import atomic_write, private_folder, read_regular
from parachute.base.single_instance import Taken, single_instance
from parachute.ops.rehearsal.models import Check
from parachute.ops.updates.models import Phase, Update, Version

_LIMIT = 256 * 1024


class Journal:
    """The journal of one installation; `home` is its state directory."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "updates"
        self._path = self.folder / "update.json"

    def read(self) -> Update | None:
        """The update under way, or the last one; None if there was none. Error: Conflict for a file that cannot be read."""
        try:
            return _parsed(json.loads(read_regular(self._path, _LIMIT)))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise Conflict(
                f"What is written down about the last update cannot be read: {self._path}.",
                "If the computer runs well, remove that file.",
                key="update_unreadable",
            ) from error

    def write(self, update: Update) -> Update:
        """Write down how far an update has come; error: OSError."""
        private_folder(self.folder)
        document = asdict(update)
        for name in ("old", "new", "previous"):
            if document[name]:
                document[name]["prefix"] = str(document[name]["prefix"])
        atomic_write(self._path, json.dumps(document))
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


def _parsed(document: dict[str, Any]) -> Update:
    versions = {name: _version(document.pop(name)) for name in ("old", "new", "previous")}
    if versions["old"] is None:
        raise ValueError("no old version")
    return Update(
        phase=Phase(document.pop("phase")),
        old=versions["old"],
        new=versions["new"],
        previous=versions["previous"],
        checks=tuple(Check(**each) for each in document.pop("checks")),
        changes=tuple(map(str, document.pop("changes"))),
        since=tuple(map(str, document.pop("since"))),
        **document,
    )


def _version(document: dict[str, Any] | None) -> Version | None:
    return Version(str(document["name"]), Path(document["prefix"]), str(document["source"])) if document else None
