"""What runs have said, in one file each, one line for each batch: a line costs an SD card nothing but its own bytes.

In a database each batch of a slow answer changes three or four pages, which are written to its log and once more to the file.
"""

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from parachute.base.folders import Folder
from parachute.files import private_folder
from parachute.runs.events import Event

_SUFFIX = ".jsonl"


class EventFiles:
    """The files of a folder; every method waits for the disk. Errors: OSError, and then the file is as it was before."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def append(self, run: int, events: list[tuple[int, Event]]) -> None:
        """Add a batch of (seq, event), which survives the end of this process at once."""
        text = json.dumps(events, ensure_ascii=False, separators=(",", ":"))
        # An agent may write halves of characters, which no encoding has.
        line = memoryview(text.encode(errors="replace") + b"\n")
        descriptor = self._open(run, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            size = os.fstat(descriptor).st_size
            try:
                while line:
                    line = line[os.write(descriptor, line) :]
            except BaseException:
                # A full disk takes the beginning of a line, and the next one would be read as its end.
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)

    def read(self, run: int) -> list[tuple[int, Event]]:
        """All events of a run; a line that a power cut left unfinished is left out."""
        found: list[tuple[int, Event]] = []
        try:
            descriptor = self._open(run, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return found
        with os.fdopen(descriptor, "rb") as file:
            for line in file:
                with contextlib.suppress(ValueError):
                    found += [(seq, event) for seq, event in json.loads(line)]
        return found

    def remove(self, runs: Iterable[int]) -> None:
        """Remove what these runs have said."""
        for run in runs:
            self._path(run).unlink(missing_ok=True)

    def remove_others(self, known: set[int]) -> None:
        """Remove what belongs to no known run."""
        with contextlib.suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                if path.suffix == _SUFFIX and path.stem.isdecimal() and int(path.stem) not in known:
                    path.unlink(missing_ok=True)

    def _open(self, run: int, flags: int) -> int:
        try:
            folder = Folder.open(self._folder)
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
            folder = Folder.open(private_folder(self._folder))
        with folder:
            return folder.descriptor(self._path(run).name, flags)

    def _path(self, run: int) -> Path:
        return self._folder / f"{run}{_SUFFIX}"
