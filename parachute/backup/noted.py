"""The processes of restic that were started here, so that a lock which one of them leaves is known for ours.

`python -m parachute.backup.noted FILE PROGRAM...` writes its own process into FILE and becomes the program. A lock names only
computer and process, and computers that were set up from one image all have the same name.
"""

import contextlib
import os
import secrets
import signal
import sys
from collections.abc import Collection
from pathlib import Path
from typing import NoReturn

from parachute.files import atomic_write, private_folder

_NOT_FOUND = 127


class Noted:
    """A folder with a note for each process that works, or has ended without the chance to remove its lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new(self) -> Path:
        """Where the next process writes itself down."""
        return private_folder(self._folder) / secrets.token_hex(8)

    def processes(self) -> set[int]:
        """All that are noted; one may have ended, and another one have its number by now."""
        return {process for _, process in self._notes()}

    def forget(self, locking: Collection[int]) -> None:
        """Remove the notes of those that have ended, but for those whose lock is still there."""
        for path, process in self._notes():
            if process not in locking and not is_alive(process):
                path.unlink(missing_ok=True)

    def _notes(self) -> list[tuple[Path, int]]:
        found = []
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                with contextlib.suppress(OSError, ValueError):
                    found.append((path, int(path.read_text())))
        return found


def is_alive(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def main() -> NoReturn:
    """Write the process down, and become the program."""
    path, *program = sys.argv[1:]
    # On a full disk its lock would stay for half an hour; that is no reason not to bring files back to another disk.
    with contextlib.suppress(OSError):
        atomic_write(Path(path), f"{os.getpid()}\n")
    # Python ignores it, and so would the program.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(program[0], program)  # noqa: S606 - no shell is the point
    except FileNotFoundError:
        sys.exit(_NOT_FOUND)


if __name__ == "__main__":
    main()
