"""Kills `apply` at every step in which it changes a file: `python -m tests.config.declared.crashing HOME VAULT OLD NEW`.

Each time the user has installed OLD and edited it, and NEW is declared; what the next `apply` makes of it is printed as JSON.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from parachute.config.declared.file import VARIABLE
from parachute.config.settings.home import Home
from parachute.modules.registry.reconcile import reconcile
from parachute.modules.registry.service import Modules
from parachute.modules.trees.models import Limits, Silent
from tests.support.crashing import at_every_step

from .declaring import module, write


def main() -> None:
    """Crash at the first change, then at the second, and so on, until it comes to its end."""
    home, vault, old, new = Home(Path(sys.argv[1])), *map(Path, sys.argv[2:5])
    declaration = vault.with_name("declared.json")
    os.environ[VARIABLE] = str(declaration)

    def prepare() -> None:
        write(declaration)
        users = _modules(home, vault)
        reconcile(users, Silent(), lambda: None)
        if users.list():
            with users.removing("hello", purge=True):
                pass
        with users.installing(str(old)) as installation:
            installation.finish()
        (users.places.source("hello") / "mine.txt").write_text("mine")
        write(declaration, modules={"hello": module(new)})

    def applied(begin: Callable[[], None]) -> None:
        modules = _modules(home, vault)
        begin()
        reconcile(modules, Silent(), lambda: None)

    json.dump(at_every_step(prepare, applied, lambda: _look(_modules(home, vault))), sys.stdout)


def _modules(home: Home, vault: Path) -> Modules:
    return Modules(home, vault, Limits(wait_seconds=10))


def _look(modules: Modules) -> dict[str, Any]:
    """Return the state of the module after the next start."""
    outcomes = [to_builtins(outcome) for outcome in reconcile(modules, Silent(), lambda: None)]
    (status,) = modules.list()
    copies, sources = modules.places.copies, modules.places.sources
    kept = sources / ".replaced-hello" / "mine.txt"
    return {
        "outcomes": outcomes,
        "state": str(status.state),
        "declared": status.declared,
        "runs_new": (modules.runnable("hello").code / "new.txt").exists(),
        "kept": kept.read_text() if kept.exists() else None,
        "vault": sorted(path.name for path in sources.iterdir()),
        "copies": sorted(str(path.relative_to(copies)) for path in copies.iterdir()),
    }


if __name__ == "__main__":
    main()
