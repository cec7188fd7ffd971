"""The events of runs, in one file each, one line for each batch: a line costs an SD card nothing but its own bytes.

In a database each batch of a slow answer changes three or four pages, which are written to its log and once more to the file.
"""

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from parachute.base.files import private_folder
from parachute.base.folders import Folder

Stored = dict[str, Any]
"""An event in JSON."""

_SUFFIX = ".jsonl"


class EventFiles:
    """The files of a folder; every method waits for the disk. Errors: OSError, and then the file is restored."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def append(self, run: int, events: list[tuple[int, Stored]]) -> None:
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

    def read(self, run: int) -> list[tuple[int, Stored]]:
        """All events of a run; a line that a power cut left unfinished is left out."""
        found: list[tuple[int, Stored]] = []
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
        """Remove the events of these runs."""
        with contextlib.suppress(FileNotFoundError), Folder.open(self._folder) as folder:
            for run in runs:
                folder.remove(_name(run))

    def remove_others(self, known: set[int]) -> None:
        """Remove the files of unknown runs."""
        with contextlib.suppress(FileNotFoundError), Folder.open(self._folder) as folder:
            for entry in list(folder.entries()):
                stem, dot, suffix = entry.name.partition(".")
                if dot + suffix == _SUFFIX and stem.isdecimal() and int(stem) not in known:
                    folder.remove(entry.name)

    def _open(self, run: int, flags: int) -> int:
        try:
            folder = Folder.open(self._folder)
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
            folder = Folder.open(private_folder(self._folder))
        with folder:
            return folder.descriptor(_name(run), flags)


def _name(run: int) -> str:
    return f"{run}{_SUFFIX}"
