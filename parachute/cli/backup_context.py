"""What the commands of `parachute backup` work with."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from parachute.backup import access, backups, process
from parachute.backup.access import Access
from parachute.backup.backups import Backup, Retention
from parachute.backup.places import Places
from parachute.backup.repository import Repository
from parachute.backup.state import State
from parachute.cli import lifecycle
from parachute.cli.output import clean, styled
from parachute.errors import Conflict
from parachute.settings.home import Home
from parachute.settings.models import BackupSettings
from parachute.settings.store import load


@dataclass(frozen=True, slots=True)
class Context:
    """The repository of this computer's settings."""

    home: Home
    settings: BackupSettings
    places: Places
    access: Access

    @classmethod
    def find(cls) -> "Context":
        """Read the settings; errors: ConfigError, NotSetUp, InvalidInput."""
        home = Home.find()
        settings = load(home)
        places = Places(home.root, settings.vault)
        backup = settings.backup
        return cls(
            home, backup, places, access.find(places, backup.repository, backup.password_file, backup.environment_file)
        )

    @property
    def repository(self) -> Repository:
        """The repository; it is not asked anything yet."""
        return Repository(process.Restic(self.places, self.access))

    @property
    def keeping(self) -> Retention:
        """What the settings keep."""
        return Retention(self.settings.keep_daily, self.settings.keep_weekly, self.settings.keep_monthly)

    @property
    def retention(self) -> Retention | None:
        """What `create` keeps; None if it is to remove nothing."""
        return self.keeping if self.settings.prune else None

    def chosen(self, name: str) -> Backup:
        """A backup by its name, `latest` for the newest; errors: NotFound, those of `Repository`."""
        found = backups.grouped(self.repository.snapshots())
        return backups.chosen(found, name, self.places.owner, State.read(self.home.root).last_made)

    @contextlib.contextmanager
    def not_running(self) -> Iterator[None]:
        """Hold off whoever wants to start the computer; error: Conflict if it runs."""
        with lifecycle.one_at_a_time(self.home):
            if lifecycle.is_running(self.home):
                raise Conflict(
                    "The computer is running, and would go on writing the files that are replaced.",
                    "`parachute stop` ends it; then try again. `--to FOLDER` restores beside it.",
                )
            yield

    @contextlib.contextmanager
    def progress(self) -> Iterator["Shown"]:
        """Show on a terminal how far it is, and in a log each step; who ends us has what was copied removed first."""
        shown = Shown()
        before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            yield shown
        finally:
            shown.close()
            for number, handler in before.items():
                signal.signal(number, handler)


def _end(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


class Shown:
    """A line on standard error that the next one replaces; where there is no terminal, a line for each step."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._text = ""

    def step(self, text: str) -> None:
        """A new step has begun."""
        self._text = clean(text)
        if self._is_terminal:
            self._draw(f"{self._text} ...")
        else:
            print(f"{self._text} ...", file=sys.stderr, flush=True)

    def part(self, done: float) -> None:
        """The present step is so far, from 0 to 1."""
        if self._is_terminal:
            self._draw(f"{self._text}: {min(max(done, 0.0), 1.0):.0%}")

    def close(self) -> None:
        """Leave the line empty."""
        if self._is_terminal:
            self._draw("")

    def _draw(self, text: str) -> None:
        sys.stderr.write("\r\033[K" + (styled(text, "2", sys.stderr) if text else ""))
        sys.stderr.flush()
