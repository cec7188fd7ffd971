"""Kills an installation at every step in which it changes a file: `python -m tests.modules.crashing HOME VAULT SOURCE`.

Prints a JSON list with the state that each crash left behind, once it was cleaned up.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from parachute.modules.models import Limits
from parachute.modules.service import Modules
from parachute.settings.home import Home

CHANGES = frozenset({"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.symlink", "os.link", "shutil.copytree"})
UPDATED = "# the new one\n"


def main() -> None:
    """Crash at the first change, then at the second, and so on, until an installation comes to its end."""
    home, vault, source = Home(Path(sys.argv[1])), Path(sys.argv[2]), Path(sys.argv[3])
    modules = Modules(home, vault, Limits(wait_seconds=10))
    original = (source / "module.py").read_text()
    found = []
    # First a new module, then an update of one that is there.
    for is_update in (False, True):
        step = 0
        while True:
            step += 1
            (source / "module.py").write_text(original)
            if modules.list():
                with modules.removing("hello"):
                    pass
            if is_update:
                _install(modules, source, 0)
                (source / "module.py").write_text(original + UPDATED)
            child = os.fork()
            if child == 0:
                _install(modules, source, step)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            ended = os.waitstatus_to_exitcode(status)
            assert ended in (0, -signal.SIGKILL), ended
            found.append({"update": is_update, "step": step, "ended": ended, **_look(modules)})
            if ended == 0:
                break
    json.dump(found, sys.stdout)


def _install(modules: Modules, source: Path, step: int) -> None:
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

    with modules.installing(str(source)) as installation:
        if step:
            sys.addaudithook(killing)
        installation.finish()


def _look(modules: Modules) -> dict[str, Any]:
    """What a person finds after the next command."""
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
