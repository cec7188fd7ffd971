"""Record of the last swap of folders, and the swap that takes it back."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, read_regular
from parachute.base.swap import Plan, Swap, renamed

RESTORE, BACK = "restore", "back"
"""Values of `kind` of `about`: a restore, and going back to the state before it."""

_LIMIT = 64 * 1024


class Note(Plan, frozen=True, kw_only=True):
    """A plan and its end: `problem` is why nothing has changed. `is_proven` as soon as the computer has started with it."""

    at: str
    problem: str | None = None
    is_proven: bool = False

    @property
    def kind(self) -> str:
        """RESTORE or BACK."""
        return str(self.about.get("kind"))

    @property
    def kept(self) -> list[Path]:
        """The folders of before that are still there."""
        return [Path(swap.kept) for swap in self.swaps if os.path.lexists(swap.kept)]


def path_of(home: Path) -> Path:
    """The file of the note, in the folder of the backups, which is itself in no backup."""
    return home / "backup" / "restored.json"


def read(home: Path) -> Note | None:
    """The note; None if there is none, or none that can be read."""
    try:
        return msgspec.json.decode(read_regular(path_of(home), _LIMIT), type=Note)
    except (OSError, ValueError, ParachuteError):
        return None


def prove(home: Path, note: Note) -> None:
    """Write down that the computer has started with what was put in place. Error: OSError."""
    atomic_write(path_of(home), msgspec.json.encode(replace(note, is_proven=True)))


def back(note: Note, **about: Any) -> Plan:
    """The plan that puts the folders of before in their places again; those that come out are kept as well. Error: OSError."""
    moment = datetime.now(UTC)
    swaps = [
        Swap(
            swap.current, swap.kept, str(renamed(Path(swap.current), "restored", moment)), Path(swap.kept).stat().st_ino
        )
        for swap in note.swaps
        if os.path.lexists(swap.kept)
    ]
    return Plan(tuple(swaps), note.carried, note.note, {**note.about, **about, "kind": BACK})
