"""The files that this installation has had: one of them that is gone was lost, and not never made."""

import json
from collections.abc import Iterable
from pathlib import Path

import msgspec

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, locked, read_regular

FILE = "known-files.json"
_LIMIT = 256 * 1024
_MOST = 500
"""Paths that are remembered: each vault that was ever used adds a few."""


class KnownFiles:
    """Paths in `known-files.json` of the state directory; without that file nothing is known."""

    def __init__(self, root: Path) -> None:
        self._path = root / FILE

    def __contains__(self, path: Path) -> bool:
        return str(path) in self._read()

    def add(self, paths: Iterable[Path]) -> None:
        """Remember that these are there; writes only what is new. Error: OSError."""
        added = [str(path) for path in paths]
        if set(added) <= set(self._read()):
            return
        with locked(self._path):
            kept = list(dict.fromkeys((*self._read(), *added)))[-_MOST:]
            atomic_write(self._path, json.dumps(kept, indent=1))

    def forget(self, folder: Path) -> None:
        """Forget what was in a folder; error: OSError."""
        with locked(self._path):
            kept = [path for path in self._read() if not Path(path).is_relative_to(folder)]
            atomic_write(self._path, json.dumps(kept, indent=1))

    def _read(self) -> list[str]:
        try:
            return msgspec.json.decode(read_regular(self._path, _LIMIT), type=list[str])
        except (OSError, ValueError, ParachuteError):
            return []
