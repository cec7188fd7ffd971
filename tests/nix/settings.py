"""The names of all settings, for the module: `python -m tests.nix.settings` writes nixos/settings.json."""

import json

from pydantic import BaseModel

from parachute.config.settings.models import Settings
from tests.nix.evaluation import TREE

FILE = TREE / "nixos" / "settings.json"


def names(model: type[BaseModel] = Settings, prefix: str = "") -> list[str]:
    """All settings, inner ones with dotted names, in order."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            found += names(type(field.default), f"{prefix}{name}.")
        else:
            found.append(prefix + name)
    return sorted(found)


if __name__ == "__main__":
    FILE.write_text(json.dumps(names(), indent=2) + "\n")
