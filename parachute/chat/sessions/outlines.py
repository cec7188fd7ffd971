"""The outlines of transcripts, in memory and in the vault, so that a long transcript opens quickly after a start as well."""

import threading
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.folders import Folder
from parachute.chat.sessions.outline import Outline
from parachute.config.vault.service import Vault

_FOLDER = "outlines"
_IN_MEMORY = 64
_FILE_LIMIT = 1024 * 1024


class Outlines:
    """Outlines by transcript; its methods block. Losing what is stored costs time only."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._outlines: OrderedDict[Path, Outline] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, path: Path) -> Outline:
        """The outline of a transcript as it was left, or an empty one."""
        with self._lock:
            if path not in self._outlines:
                self._outlines[path] = Outline(self._stored(path))
            self._outlines.move_to_end(path)
            if len(self._outlines) > _IN_MEMORY:
                self._outlines.popitem(last=False)
            return self._outlines[path]

    def store(self, path: Path, outline: Outline) -> None:
        """Keep an outline for the next start."""
        # A full disk keeps nobody from reading.
        with suppress(OSError, Unavailable):
            folder = self._vault.private_folder(self._vault.state.name, _FOLDER)
            with Folder.open(folder) as outlines:
                outlines.write(_name(path), outline.as_json())

    def delete(self, path: Path) -> None:
        """Forget the outline of a transcript."""
        with self._lock:
            self._outlines.pop(path, None)
        with suppress(OSError), Folder.open(self._vault.state) as state:
            state.remove(f"{_FOLDER}/{_name(path)}")

    def _stored(self, path: Path) -> bytes | None:
        try:
            with Folder.open(self._vault.state) as state:
                return state.read(f"{_FOLDER}/{_name(path)}", _FILE_LIMIT)
        except (OSError, InvalidInput):
            return None


def _name(path: Path) -> str:
    """The file of an outline: a session has one transcript, wherever that lies."""
    return f"{path.stem}.json"
