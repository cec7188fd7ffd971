"""The folders of backups: the parts, and `~/.parachute/backup`, which is itself in no backup."""

from pathlib import Path

from msgspec import Struct

from parachute.base.files import private_folder, random_name
from parachute.ops.backup.models import TRUST, VAULT, Part

FOLDER = "backup"

DRILLED = "parachute-drill"

CREATE_LOCK = ".create.lock"
"""Held by the one command that works with the repository."""


class Places(Struct, frozen=True):
    """The folders of one installation; `home` is the state directory."""

    home: Path
    vault: Path

    @property
    def folder(self) -> Path:
        """State, lock, password, cache and staging; made for its owner only."""
        return private_folder(self.home / FOLDER)

    @property
    def staging(self) -> Path:
        """Copies that are being backed up, as the parts are called: without links."""
        return self.home.resolve() / FOLDER / "staging"

    @property
    def drilled(self) -> Path:
        """The folder of a drill, until its end."""
        return self.home / FOLDER / DRILLED

    def parts(self) -> tuple[Part, Part]:
        """Return the parts: the vault, and the state directory without what only this moment or this machine has."""
        under_way = (
            ".parachute/adopting",
            ".parachute/uploads",
            # Without it a restored vault has a new epoch, and no device trusts what it remembers.
            ".parachute/sync",
            ".parachute/imports/*/upload",
            ".parachute/imports/*/staged",
        )
        made_anew = ("**/__pycache__", *under_way, ".parachute/**/*.unfinished")
        passing = (
            "run",
            "logs",
            "sandboxes",
            "caches",
            "views",
            "changes",
            "meaning",
            "documents",
            "sync",
            "backup/*",
            # How far an update of this machine is, and the way back: elsewhere it would be taken up without its versions.
            *("updates/update.json", "updates/kept", "updates/units"),
            "modules/*/*/packages",
            "**/__pycache__",
            "**/*.unfinished",
        )
        vault = Part(VAULT, self.vault.resolve(), made_anew, (".parachute/**/*.db",))
        return vault, Part(TRUST, self.home.resolve(), passing, ("**/*.db",))

    @property
    def installation(self) -> str:
        """A random name that no other installation has, also of one image; it is in no backup. Error: InvalidInput."""
        hint = "Remove it: a new one is made then, and the backups made so far count as those of another computer."
        return random_name(self.folder / "installation", hint)
