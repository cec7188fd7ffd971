"""`python -m parachute.ops.backup.preparing BACKUP`: fetch a backup for the server, and order that the next start puts it in place.

It says what it does as `parachute backup` does: a line for each step, and in percent how far it is.
"""

import argparse
import signal
import sys
from typing import NoReturn

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.backup import access, backups, restore
from parachute.ops.backup.models import Progress
from parachute.ops.backup.places import Places
from parachute.ops.backup.present import Browser
from parachute.ops.backup.repository import Repository
from parachute.ops.backup.restic import Restic
from parachute.ops.backup.state import State


class _Said(Progress):
    """Lines on standard output."""

    def __init__(self) -> None:
        self._last = ""

    def step(self, text: str) -> None:
        self._say(f"{text} ...")

    def part(self, done: float) -> None:
        self._say(f"{done:.0%}")

    def _say(self, line: str) -> None:
        if line != self._last:
            print(line, flush=True)  # noqa: T201 - the server reads it
            self._last = line


def main() -> int:
    """Do it; 1 with a sentence if it cannot be done."""
    parser = argparse.ArgumentParser(prog="parachute.ops.backup.preparing")
    parser.add_argument("backup")
    parser.add_argument("--trust", action="store_true")
    parser.add_argument("--browser")
    parser.add_argument("--by", default="")
    options = parser.parse_args()
    # Who ends us has what was copied removed first.
    signal.signal(signal.SIGTERM, _end)
    try:
        home = Home.find()
        settings = load(home)
        places = Places(home.root, settings.vault)
        found = access.find(
            places, settings.backup.repository, settings.backup.password_file, settings.backup.environment_file
        )
        repository = Repository(Restic(places, found))
        made = backups.grouped(repository.snapshots())
        chosen = backups.chosen(made, options.backup, places.installation, State.read(home.root).last_made)
        browser = Browser(options.browser) if options.browser else None
        about = {"by": options.by, "browser": options.browser}
        restore.prepare(places, repository, chosen, _Said(), trust=options.trust, browser=browser, about=about)
    except ParachuteError as error:
        print(f"Error: {error.message}", flush=True)  # noqa: T201
        return 1
    return 0


def _end(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
