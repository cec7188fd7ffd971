"""Installs a module and says yes: `python -m tests.modules.registry.installing HOME VAULT SOURCE [STOP]`.

Says every step on a line; at the first that begins with STOP it waits until it is killed.
"""

import signal
import sys
from pathlib import Path

from parachute.config.settings.home import Home
from parachute.modules.registry.service import Modules


class Steps:
    """Prints, and stops."""

    def __init__(self, stop: str) -> None:
        self._stop = stop

    def step(self, text: str) -> None:
        """Print a line."""
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
        if self._stop and text.startswith(self._stop):
            signal.pause()

    def detail(self, text: str) -> None:
        """A line that would vanish."""


def main() -> None:
    """Install."""
    home, vault, source, *stop = sys.argv[1:]
    modules = Modules(Home(Path(home)), Path(vault))
    with modules.installing(source, progress=Steps(stop[0] if stop else "")) as installation:
        if not installation.is_unchanged:
            installation.finish()
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
