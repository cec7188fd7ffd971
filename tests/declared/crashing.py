"""Kills `apply` at every step in which it changes a file: `python -m tests.declared.crashing HOME VAULT OLD NEW`.

Each time the user has installed OLD and edited it, and NEW is declared; what the next `apply` makes of it is printed as JSON.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from parachute.declared.file import VARIABLE
from parachute.modules.applying import apply
from parachute.modules.models import Limits, Silent
from parachute.modules.service import Modules
from parachute.settings.home import Home
from tests.modules.crashing import CHANGES

from .declaring import module, write


def main() -> None:
    """Crash at the first change, then at the second, and so on, until it comes to its end."""
    home, vault, old, new = Home(Path(sys.argv[1])), *map(Path, sys.argv[2:5])
    declaration = vault.with_name("declared.json")
    os.environ[VARIABLE] = str(declaration)
    found = []
    step = 0
    while True:
        step += 1
        write(declaration)
        users = _modules(home, vault)
        apply(users, Silent(), lambda: None)
        if users.list():
            with users.removing("hello", purge=True):
                pass
        with users.installing(str(old)) as installation:
            installation.finish()
        (users.places.source("hello") / "mine.txt").write_text("mine")
        write(declaration, modules={"hello": module(new)})
        child = os.fork()
        if child == 0:
            _killed(_modules(home, vault), step)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        ended = os.waitstatus_to_exitcode(status)
        assert ended in (0, -signal.SIGKILL), ended
        found.append({"step": step, "ended": ended, **_look(_modules(home, vault), new)})
        if ended == 0:
            break
    json.dump(found, sys.stdout)


def _modules(home: Home, vault: Path) -> Modules:
    return Modules(home, vault, Limits(wait_seconds=10))


def _killed(modules: Modules, step: int) -> None:
    left = step

    def killing(event: str, arguments: Any) -> None:
        nonlocal left
        is_change = event in CHANGES or (
            event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        )
        if is_change and left:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(killing)
    apply(modules, Silent(), lambda: None)


def _look(modules: Modules, new: Path) -> dict[str, Any]:
    """What a person finds after the next start."""
    outcomes = [outcome.as_json() for outcome in apply(modules, Silent(), lambda: None)]
    (status,) = modules.list()
    assert status.module is not None
    copies, sources = modules.places.copies, modules.places.sources
    kept = sources / ".replaced-hello" / "mine.txt"
    return {
        "outcomes": outcomes,
        "state": str(status.state),
        "declared": status.module.declared,
        "runs_new": (modules.runnable("hello").code / "new.txt").exists(),
        "kept": kept.read_text() if kept.exists() else None,
        "vault": sorted(path.name for path in sources.iterdir()),
        "copies": sorted(str(path.relative_to(copies)) for path in copies.iterdir()),
    }


if __name__ == "__main__":
    main()
