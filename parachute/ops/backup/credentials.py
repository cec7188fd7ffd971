"""Credentials of the place of backups that were typed on a device: a file of their own in `~/.parachute/backup`, which a setting names."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.base.files import atomic_write, private_folder
from parachute.config.settings.home import Home
from parachute.config.settings.store import load, set_value, unset_value
from parachute.ops.backup.access import SECRETS
from parachute.ops.backup.places import FOLDER

_SETTING, _NAME = "backup.environment_file", "environment-"
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Typed:
    """Credentials that were written down; they are in force from `use` on, until `keep` or `undo` one can go back."""

    home: Home
    file: Path
    before: Path | None

    def use(self) -> None:
        """Have the setting name them; errors: Declared, ConfigError, OSError."""
        set_value(self.home, _SETTING, json.dumps(str(self.file)))

    def undo(self) -> None:
        """Those of before are in force, and these are gone."""
        if load(self.home).backup.environment_file == self.file:
            if self.before is None:
                unset_value(self.home, _SETTING)
            else:
                set_value(self.home, _SETTING, json.dumps(str(self.before)))
        self.file.unlink(missing_ok=True)

    def keep(self) -> None:
        """Forget those of before, unless a person has written their file."""
        if self.before is not None and self.before.parent == self.file.parent and self.before.name.startswith(_NAME):
            self.before.unlink(missing_ok=True)


def write(home: Home, variables: Mapping[str, str]) -> Typed:
    """Write credentials down, for nobody else to read; errors: InvalidInput without any of the values, ConfigError, OSError."""
    for name, value in variables.items():
        if name not in SECRETS:
            hint = f"These are {', '.join(sorted(SECRETS))}. A file that a place needs is named on the computer itself."
            raise InvalidInput(f"{name[:60]!r} is none of the credentials that are typed here.", hint)
        if not value.strip() or not value.isprintable() or len(value) > _LONGEST:
            raise InvalidInput(f"{name}: it is a single line, and not empty.", "Whoever offers the place names it.")
    before = load(home).backup.environment_file
    file = private_folder(home.root / FOLDER) / f"{_NAME}{secrets.token_hex(4)}"
    # In quotes, as a value may begin and end with them.
    atomic_write(file, "".join(f'{name}="{value.strip()}"\n' for name, value in sorted(variables.items())), 0o600)
    return Typed(home, file, before)
