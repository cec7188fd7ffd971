"""Record of the last swap of folders, and the swap that takes it back."""

import json
import os
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, read_regular
from parachute.base.swap import Plan, Swap, parsed, renamed

RESTORE, BACK = "restore", "back"
"""Values of `kind` of `about`: a restore, and going back to the state before it."""

_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Note:
    """A plan and its end: `problem` is why nothing has changed. `is_proven` as soon as the computer has started with it."""

    plan: Plan
    at: str
    problem: str | None = None
    is_proven: bool = False
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def kind(self) -> str:
        """RESTORE or BACK."""
        return str(self.plan.about.get("kind"))

    @property
    def kept(self) -> list[Path]:
        """The folders of before that are still there."""
        return [Path(swap.kept) for swap in self.plan.swaps if os.path.lexists(swap.kept)]


def path_of(home: Path) -> Path:
    """The file of the note, in the folder of the backups, which is itself in no backup."""
    return home / "backup" / "restored.json"


def read(home: Path) -> Note | None:
    """The note; None if there is none, or none that can be read."""
    try:
        document = json.loads(read_regular(path_of(home), _LIMIT))
        problem = document.get("problem")
        return Note(
            parsed(document),
            str(document["at"]),
            str(problem) if problem is not None else None,
            document.get("is_proven") is True,
            document,
        )
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, ParachuteError):
        return None


def prove(home: Path, note: Note) -> None:
    """Write down that the computer has started with what was put in place. Error: OSError."""
    atomic_write(path_of(home), json.dumps({**note.document, "is_proven": True}))


def back(note: Note, **about: Any) -> Plan:
    """The plan that puts the folders of before in their places again; those that come out are kept as well. Error: OSError."""
    moment = datetime.now(UTC)
    swaps = [
        Swap(
            swap.current, swap.kept, str(renamed(Path(swap.current), "restored", moment)), Path(swap.kept).stat().st_ino
        )
        for swap in note.plan.swaps
        if os.path.lexists(swap.kept)
    ]
    return replace(note.plan, swaps=tuple(swaps), about={**note.plan.about, **about, "kind": BACK})
