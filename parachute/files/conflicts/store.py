"""Versions that wait for the owner, in a folder of the vault's own: they are in its backups, and no device sees them as files."""

import hashlib
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock, as_text
from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write
from parachute.base.folders import Folder
from parachute.changes.blobs import Staged
from parachute.config.vault.service import Vault

_LIMIT = 64 * 1024
_MOST = 2000
_FOLDER = "conflicts"
_NAME = re.compile(r"([0-9a-f]{16})\.json")


class Kept(Struct, frozen=True):
    """A version of the file at `path`, which `device` sent; `base` says that the version it was made from is kept, too."""

    id: str
    path: str
    hash: str
    size: int
    device: str
    since: str
    has_base: bool


class ConflictStore:
    """Three files each: the description, which is written last and removed first, the version, and its base. Methods wait for the disk."""

    def __init__(self, vault: Vault, clock: Clock = SYSTEM) -> None:
        self._vault = vault
        self._clock = clock

    def add(self, path: str, content: Staged, base: str | None, device: str) -> str:
        """Keep a version, once however often it is sent; its id. Error: OSError."""
        name = hashlib.sha256(f"{path}\0{content.hash}".encode(errors="replace")).hexdigest()[:16]
        folder = self._folder()
        if not (folder / f"{name}.json").exists():
            if base is not None:
                atomic_write(folder / f"{name}.base", base)
            _write(folder / f"{name}.version", content)
            since = as_text(self._clock.now())
            kept = Kept(name, path, content.hash, content.size, device, since, base is not None)
            atomic_write(folder / f"{name}.json", msgspec.json.encode(kept))
        return name

    def all(self) -> list[Kept]:
        """Return what waits; what cannot be read is left out."""
        found = []
        try:
            with Folder.open(self._vault.state) as state, state.folder(_FOLDER) as folder:
                names = [match[1] for entry in folder.entries() if (match := _NAME.fullmatch(entry.name))]
        except FileNotFoundError:
            return []
        for name in sorted(names)[:_MOST]:
            kept = self.get(name)
            found += [kept] if kept is not None else []
        return found

    def get(self, name: str) -> Kept | None:
        """Return one of them; None if it does not wait."""
        try:
            return msgspec.json.decode(self._read(f"{name}.json", _LIMIT), type=Kept)
        except (OSError, ValueError, ParachuteError):
            return None

    def content(self, name: str) -> Path:
        """The file of a version."""
        return self._folder() / f"{name}.version"

    def base(self, kept: Kept, limit: int) -> str | None:
        """The text that a version was made from, if that is known."""
        if not kept.has_base:
            return None
        try:
            return self._read(f"{kept.id}.base", limit).decode()
        except (OSError, ValueError, ParachuteError):
            return None

    def drop(self, name: str) -> None:
        """Forget a version that was decided about. Error: OSError."""
        for end in ("json", "version", "base"):
            (self._folder() / f"{name}.{end}").unlink(missing_ok=True)

    def _read(self, name: str, limit: int) -> bytes:
        # Reading makes no folder: the disk may be read-only.
        with Folder.open(self._vault.state) as state:
            return state.read(f"{_FOLDER}/{name}", limit)

    def _folder(self) -> Path:
        return self._vault.private_folder(self._vault.state.name, _FOLDER)


def _write(path: Path, content: Staged) -> None:
    with Folder.open(path.parent) as folder, folder.replacement(path.name, 0o600) as new:
        for chunk in content.chunks():
            new.write(chunk)
        new.commit()
