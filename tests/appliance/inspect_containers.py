"""Inspects a container, one that has this machine's network, and a sandbox of bubblewrap: `inspect_containers.py`.

It prints as JSON what was found of each.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from parachute.config.settings.home import Home
from parachute.sandbox.engines.inspection.service import explain
from parachute.supervisor import units
from tests.appliance.launching import launched, specified

NETWORKED = 'for each; do shift; [ "$each" = --network=none ] && each=--network=host; set -- "$@" "$each"; done'


def main() -> None:
    """Print one JSON object."""
    home = Home.find()
    found = {}
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        for name in ("undisturbed", "networked", "bubblewrap"):
            found[name] = looked_at(home, Path(place, name))
    json.dump(found, sys.stdout)


def looked_at(home: Home, folder: Path) -> dict[str, Any]:
    """The findings of an inspection."""
    specification = specified(home, folder, writable=True)
    if folder.name == "bubblewrap":
        specification = replace(specification, engine="bubblewrap", image="", processes=1024)
    path = units.agent_socket(home, specification.session)
    path.parent.mkdir(parents=True, mode=0o700)
    with launched(home, folder, specification, path, NETWORKED if folder.name == "networked" else ""):
        found: dict[str, Any] = to_builtins(explain(home, specification))
    path.parent.rmdir()
    return found


if __name__ == "__main__":
    main()
