"""State of this computer at this moment, which a restored state directory takes over before it is put in place."""

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.files import private_folder
from parachute.config.declared.models import Declared
from parachute.config.settings import store
from parachute.config.settings.checking import ConfigError
from parachute.config.settings.home import Home
from parachute.ops.backup.models import BackupFailed
from parachute.ops.backup.places import FOLDER, Places
from parachute.security.keys.document import BROWSERS
from parachute.security.keys.models import Key
from parachute.security.keys.store import KeyStore

_OF_THIS_COMPUTER = ("host", "port", "backup.repository", "backup.password_file", "backup.environment_file")
"""Settings about where it is reached and where its backups are; those of another computer would lock its owner out."""


class Browser(Struct, frozen=True):
    """A browser that is signed in, which is to stay signed in whatever is restored."""

    id: str

    def found(self, home: Path) -> Key | None:
        """Return the key as it is stored now; error: KeysUnreadable."""
        return next((key for key in KeyStore(home, BROWSERS).load().keys if key.id == self.id), None)


def take_over(places: Places, password: Path, root: Path, browser: Browser | None = None) -> None:
    """Put it into the restored state directory `root`; errors: BackupFailed for settings that cannot be, KeysUnreadable, OSError."""
    folder = private_folder(root / FOLDER)
    for path in places.folder.iterdir():
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            shutil.copy2(path, folder / path.name)
    with contextlib.suppress(FileNotFoundError):
        # Who has stopped all agents has not let them go by restoring.
        shutil.copy2(places.home / "panic.json", root / "panic.json")
    if password.resolve().is_relative_to(places.home.resolve()):
        # The repository may have got another one since.
        target = root / password.resolve().relative_to(places.home.resolve())
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy2(password, target)
    # Where units begin their logs before anybody could make it.
    private_folder(root / "logs")
    _settings(places, root)
    if browser is not None and (found := browser.found(places.home)) is not None:
        # The key with which it has signed in may not be among the restored ones.
        carried = replace(found, parent=None)
        KeyStore(root, BROWSERS).change(lambda known: (*(key for key in known if key.id != carried.id), carried))


def _settings(places: Places, root: Path) -> None:
    now = store.read_document(Home(places.home))
    wanted: dict[str, Any] = {"vault": str(places.vault)} | {name: _value(now, name) for name in _OF_THIS_COMPUTER}
    restored = Home(root)
    try:
        for name, value in wanted.items():
            with contextlib.suppress(Declared):  # the system's configuration wins all the same
                if value is None:
                    store.unset_value(restored, name)
                else:
                    store.set_value(restored, name, json.dumps(value))
    except ConfigError as error:
        raise BackupFailed(
            f"The settings in this backup do not fit this version: {error.message}",
            "Nothing was changed. Without its keys and settings, the vault alone can be restored.",
        ) from error


def _value(document: dict[str, Any], name: str) -> Any:
    found: Any = document
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found
