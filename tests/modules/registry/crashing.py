"""Kills an installation at every step in which it changes a file: `python -m tests.modules.registry.crashing HOME VAULT SOURCE`.

Prints a JSON list with the state that each crash left behind, once it was cleaned up.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parachute.config.settings.home import Home
from parachute.modules.registry.service import Modules
from parachute.modules.trees.models import Limits
from tests.support.crashing import at_every_step

UPDATED = "# the new one\n"


def main() -> None:
    """First a new module, then an update of one that is there."""
    home, vault, source = Home(Path(sys.argv[1])), Path(sys.argv[2]), Path(sys.argv[3])
    modules = Modules(home, vault, Limits(wait_seconds=10))
    original = (source / "module.py").read_text()

    def install(begin: Callable[[], None] = lambda: None) -> None:
        with modules.installing(str(source)) as installation:
            begin()
            installation.finish()

    def prepare_new() -> None:
        (source / "module.py").write_text(original)
        if modules.list():
            with modules.removing("hello"):
                pass

    def prepare_update() -> None:
        prepare_new()
        install()
        (source / "module.py").write_text(original + UPDATED)

    found = []
    for is_update, prepare in ((False, prepare_new), (True, prepare_update)):
        steps = at_every_step(prepare, install, lambda: _look(modules))
        found += [{"update": is_update, **step} for step in steps]
    json.dump(found, sys.stdout)


def _look(modules: Modules) -> dict[str, Any]:
    """Return the state of the module after the next command."""
    modules.recover()
    folder = modules.places.source("hello")
    states = [str(status.state) for status in modules.list()]
    running = modules.runnable("hello").code / "module.py" if states else None
    copies = modules.places.copies
    return {
        "states": states,
        "vault": [path.name for path in modules.places.sources.iterdir()],
        "is_new": UPDATED in (folder / "module.py").read_text() if folder.exists() else None,
        "runs_new": UPDATED in running.read_text() if running else None,
        "copies": sorted(str(path.relative_to(copies)) for path in copies.glob("*/*")),
        "others": sorted(path.name for path in copies.iterdir() if path.name not in (".lock", "hello")),
    }


if __name__ == "__main__":
    main()
