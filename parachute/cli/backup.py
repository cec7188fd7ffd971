"""The repository of this computer's backups, and what `parachute backup` does with it."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from parachute.base.errors import Conflict, InvalidInput
from parachute.cli import lifecycle
from parachute.cli.output import clean, styled
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.backup import backups, choosing, create, proof, restore
from parachute.ops.backup.backups import Backup, Retention
from parachute.ops.backup.create import Created
from parachute.ops.backup.models import Damaged, Progress
from parachute.ops.backup.present import Browser
from parachute.ops.backup.proof import Proved
from parachute.ops.backup.repository import Repository
from parachute.ops.backup.restore import Restored
from parachute.ops.backup.state import State
from parachute.ops.rehearsal.performing import start_restored
from parachute.supervisor import pid_file


class Backups:
    """The backups of this computer; errors: ConfigError, NotSetUp, InvalidInput, and those of `parachute.ops.backup`."""

    def __init__(self) -> None:
        self.home = Home.find()
        settings = load(self.home)
        self.settings = settings.backup
        self.repository = Repository.of(self.home, settings)
        self.places, self.access = self.repository.places, self.repository.access
        self._keep = Retention(self.settings.keep_daily, self.settings.keep_weekly, self.settings.keep_monthly)

    @classmethod
    def at(cls, place: str, *, replaces: bool) -> tuple["Backups", bool, str | None]:
        """Make a repository at a place that the settings name from then on; with it what `make_at` returns."""
        made, replaced = choosing.make_at(Home.find(), place, replaces=replaces)
        return cls(), made, replaced

    def init(self) -> bool:
        """Make the repository; whether a password was made for it."""
        return create.make(self.repository)

    def create(self) -> Created:
        """Make a backup, and remove old ones if the settings say so."""
        with _progress() as progress:
            return create.create(self.places, self.repository, self._keep if self.settings.prune else None, progress)

    def all(self) -> list[Backup]:
        """Every backup in the repository, the newest last."""
        return backups.grouped(self.repository.snapshots())

    def chosen(self, name: str) -> Backup:
        """A backup by its name, `latest` for the newest; error: NotFound."""
        return backups.chosen(self.all(), name, self.places.installation, State.read(self.home.root).last_made)

    def verify(self, name: str, *, quick: bool) -> Proved:
        """Compare a backup with what was written."""
        found = self.chosen(name)
        with _progress() as progress:
            return proof.verify(self.places, self.repository, found, progress, quick=quick)

    def check_target(self, to: Path | None, trust: bool) -> Path | None:
        """Return the target of a restore, None for the vault; errors: Conflict if the computer runs, InvalidInput for a wrong folder."""
        if to is None:
            with self._not_running():
                return None
        to = to.expanduser().absolute()
        restore.check_empty(to)
        if trust and to.resolve().is_relative_to(self.places.vault.resolve()):
            raise InvalidInput(
                f"{to} lies in the vault, where agents could read the keys.",
                "Name a folder outside of it.",
                key="target_in_vault",
            )
        return to

    def restore(self, found: Backup, to: Path | None, *, trust: bool) -> Restored:
        """Put a backup in the place of the vault, or into another folder."""
        with _progress() as progress:
            if to is not None:
                return restore.restore_into(self.repository, found, to, progress, trust=trust)
            return restore.restore(self.places, self.repository, found, self._not_running, progress, trust=trust)

    def prepare(self, found: Backup, *, trust: bool, by: str, browser: str | None) -> None:
        """Fetch and verify a backup for the server, and order that its next start puts it in place."""
        with _progress(in_percent=True) as progress:
            kept, about = Browser(browser) if browser else None, {"by": by, "browser": browser}
            restore.prepare(self.places, self.repository, found, progress, trust=trust, browser=kept, about=about)

    def drill(self, place: Path | None) -> Proved:
        """Restore the newest backup into a folder of its own, compare it, start the computer from it, and remove it again."""
        with _progress() as progress:
            folder = place.expanduser() if place else None
            return proof.drill(self.places, self.repository, progress, place=folder, start=self._start)

    def prune(self, *, really: bool) -> list[Backup]:
        """Remove the backups that the settings do not keep; returns them."""
        return create.prune(self.places, self.repository, self._keep, really=really)

    def _start(self, state: Path, vault: Path) -> str | None:
        """Start the computer from what a backup has brought back; why that is not possible here. Error: Damaged."""
        try:
            result = start_restored(self.home, state, vault)
        except Conflict as error:
            return error.message
        if result.impossible or result.ok:
            return result.impossible
        failed = next((check for check in result.checks if not check.ok), None)
        said, hint = (failed.sentence, failed.detail) if failed else ("It did not come to an end.", None)
        hint = hint or "`parachute backup restore BACKUP --to FOLDER` brings its files all the same."
        raise Damaged(f"The backup is complete, but {said[0].lower()}{said[1:]}", hint, key="backup_does_not_start")

    @contextlib.contextmanager
    def _not_running(self) -> Iterator[None]:
        """Hold off whoever wants to start the computer; error: Conflict if it runs."""
        with lifecycle.one_at_a_time(self.home):
            if pid_file.is_running(self.home):
                raise Conflict(
                    "The computer is running and would overwrite the restored files.",
                    "`parachute stop` ends it; then try again. `--to FOLDER` restores beside it.",
                    key="restore_beside_computer",
                )
            yield


@contextlib.contextmanager
def _progress(*, in_percent: bool = False) -> Iterator[Progress]:
    """Show on a terminal how far it is, and in a log each step; who ends us has what was copied removed first."""
    shown = _Shown(in_percent)
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield shown
    finally:
        shown.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, _: object) -> NoReturn:
    # A terminal that is closed says so twice, by its kernel and by its shell: the second must not end the removing.
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


class _Shown(Progress):
    """A line on standard error that the next one replaces; where there is no terminal, a line for each step, or each percent of it."""

    def __init__(self, in_percent: bool) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._in_percent = in_percent
        self._text = self._said = ""

    def step(self, text: str) -> None:
        """A new step has begun."""
        self._said = ""
        self._text = clean(text)
        if self._is_terminal:
            self._draw(f"{self._text} ...")
        else:
            print(f"{self._text} ...", file=sys.stderr, flush=True)

    def part(self, done: float) -> None:
        """The present step is so far, from 0 to 1."""
        if self._is_terminal:
            self._draw(f"{self._text}: {min(max(done, 0.0), 1.0):.0%}")
        elif self._in_percent and (said := f"{done:.0%}") != self._said:
            self._said = said
            print(said, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the line empty."""
        if self._is_terminal:
            self._draw("")

    def _draw(self, text: str) -> None:
        with contextlib.suppress(OSError):  # of a terminal that is closed, which ends us by its signal
            sys.stderr.write("\r\033[K" + (styled(text, "2", sys.stderr) if text else ""))
            sys.stderr.flush()
