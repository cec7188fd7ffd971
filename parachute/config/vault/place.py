"""The place of a vault: an empty folder at which its disk was mounted is not taken for it."""

import json
from pathlib import Path

import msgspec
from msgspec import Struct

from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.files import atomic_write, locked, random_name, read_regular
from parachute.base.known_files import KnownFiles

MARK = "vault-id"
"""The random name of a vault, which goes with it wherever it goes."""

DATABASE = "sessions.db"
_NAMES, _LIMIT = "vault-names.json", 256 * 1024


class VaultMissing(Unavailable):
    """The vault that this computer has used is not in its place; its disk may not be mounted."""

    key = "vault_missing"


class VaultPlace(Struct, frozen=True):
    """The place of a vault as the state directory `home` knows it."""

    home: Path
    vault: Path

    def is_there(self) -> bool:
        """Return whether something of a vault is there. Waits for the disk."""
        return any(_is_there(self._state / name) for name in (MARK, DATABASE))

    def is_missing(self) -> bool:
        """Return whether a vault was here, and nothing of it is."""
        return self._state / DATABASE in KnownFiles(self.home) and not self.is_there()

    def check(self) -> None:
        """Error: VaultMissing, before anything is made in its place."""
        if self.is_missing():
            raise self.missing()

    def missing(self) -> VaultMissing:
        """Return the error that says what to do."""
        return VaultMissing(
            f"The vault is not in {self.vault}, where it was.",
            "Mount or plug in its disk. If it has moved: `parachute vault set PATH`. To begin an empty one there: "
            f"`parachute vault set {self.vault} --create`.",
        )

    def settle(self) -> bool:
        """Give the vault a name unless it has one; return whether it is another one than was here. Errors: InvalidInput, OSError."""
        names, mark = self._names(), self._state / MARK
        known = names.get(str(self.vault))
        if known is not None and not mark.exists():
            atomic_write(mark, f"{known}\n")  # it came back from a backup that is older than the names
        name = random_name(mark, "Remove it: the vault gets a new name then.")
        if name == known:
            return False
        with locked(self.home / _NAMES):
            atomic_write(self.home / _NAMES, json.dumps({**self._names(), str(self.vault): name}, indent=1))
        return known is not None

    def begin_anew(self) -> None:
        """Forget the vault that was here, so that an empty one may take its place. Error: OSError."""
        if self.is_missing():
            KnownFiles(self.home).forget(self._state)

    @property
    def _state(self) -> Path:
        return self.vault / ".parachute"

    def _names(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(read_regular(self.home / _NAMES, _LIMIT), type=dict[str, str])
        except (OSError, ValueError, ParachuteError):
            return {}


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except OSError:
        return False  # also of a disk that was pulled out, where nothing can be read
    return True
