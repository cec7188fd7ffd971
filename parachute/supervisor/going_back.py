"""`python -m parachute.supervisor.going_back PROBLEM`: order that what was there before a restore comes back, since it does not start."""

import sys
from pathlib import Path

from parachute.base import swap, swap_note
from parachute.config.settings.home import Home


def is_called_for(home: Path) -> bool:
    """Return whether a restore was put in place with which the computer has not come up yet."""
    note = swap_note.read(home)
    return note is not None and not note.is_proven and note.kind == swap_note.RESTORE and bool(note.kept)


def order(home: Path, problem: str) -> None:
    """Have it done by the next start. Error: OSError."""
    if is_called_for(home) and (note := swap_note.read(home)) is not None:
        swap.order(home, swap_note.back(note, problem=problem))


if __name__ == "__main__":
    order(Home.named().root, sys.argv[1])
