"""Performing a rehearsal: the copies are made, the namespace is started and watched, and everything is removed again."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import convert

from parachute.base.errors import Conflict, InvalidInput, ParachuteError
from parachute.base.files import private_folder
from parachute.base.single_instance import Taken, single_instance
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.rehearsal import environment
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.rehearsal.plan import Plan
from parachute.ops.rehearsal.staging import Scratch, remove_private
from parachute.ops.rehearsal.trial import HIDDEN
from parachute.sandbox.engines import views

_SECONDS = 300.0
"""The most that a rehearsal takes, copies included."""

_LINE = 1 << 20


def perform(home: Home, python: Path, report: Callable[[Check], None], declared: Path | None = None) -> Rehearsal:
    """Rehearse the version of an interpreter; `report` hears of each check at once. Waits.

    Errors: InvalidInput for what is no interpreter, Conflict while another rehearsal is under way, ConfigError, OSError.
    """
    if not os.access(python, os.X_OK) or python.is_dir():
        raise InvalidInput(
            f"There is no program {python}.", "Name the interpreter of the new version.", key="no_interpreter"
        )
    return _perform(home, python, report, declared=declared)


def start_restored(home: Home, state: Path, vault: Path) -> Rehearsal:
    """Start the present version on a state directory and a vault that a backup has brought back, which it changes. Waits.

    Errors: Conflict while a rehearsal is under way, ConfigError, OSError.
    """
    remove_private(state)
    return _perform(home, Path(sys.executable), lambda check: None, restored=(state, vault))


def _perform(
    home: Home,
    python: Path,
    report: Callable[[Check], None],
    *,
    declared: Path | None = None,
    restored: tuple[Path, Path] | None = None,
) -> Rehearsal:
    deadline = time.monotonic() + _SECONDS
    if sys.platform != "linux":
        return Rehearsal(impossible="A rehearsal needs the namespaces of Linux.")
    if not shutil.which("bwrap"):
        return Rehearsal(impossible="bubblewrap is not installed.")
    running = environment.of_running(home)
    # What it was started with counts, and not what this shell says.
    for name in [name for name in os.environ if name.startswith("PARACHUTE_")]:
        del os.environ[name]
    os.environ.update(running)
    settings, scratch, checks = load(home), Scratch.of(home), list[Check]()

    def found(check: Check) -> None:
        checks.append(check)
        report(check)

    with _alone(home), scratch.made():
        binds, viewed = list[tuple[str, str]](), list[tuple[str, str]]()
        places = [str(home.root.resolve()), str(settings.vault.resolve())]
        if restored is not None:
            binds = [(str(folder), place) for folder, place in zip(restored, places, strict=True)]
        else:
            try:
                if views.unavailable(scratch.folder / "tried") is None:
                    viewed = scratch.stage(home, settings.vault)
                else:
                    binds = scratch.stage(home, settings.vault, copied=True)
            except (ParachuteError, OSError) as error:
                found(_not_copied(error))
                return Rehearsal(tuple(checks))
            found(Check("copies", True, "Everything that the new version may change is copied."))
        login = Path.home() / ".claude" / ".credentials.json"
        plan = Plan(
            home=places[0],
            vault=places[1],
            port=settings.port,
            # Not resolved: in a virtual environment that would be another interpreter.
            python=str(python.absolute()),
            old_python=sys.executable,
            shown=_shown(python, scratch),
            masked=[str(login.resolve())] if login.exists() else [],
            binds=binds,
            views=viewed,
            environment=environment.of_new_version(home, scratch, running, declared),
            is_restored=restored is not None,
        )
        changes: list[str] = []
        reason = _followed(scratch, plan, deadline, found, changes.append)
        return Rehearsal(impossible=reason) if reason else Rehearsal(tuple(checks), tuple(changes))


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    try:
        with single_instance(private_folder(home.run) / "rehearsal.lock"):
            yield
    except Taken as error:
        raise Conflict(
            f"A trial start is running (process {error.process}).", "Wait for its end.", key="rehearsal_under_way"
        ) from error


def _followed(
    scratch: Scratch, plan: Plan, deadline: float, found: Callable[[Check], None], changed: Callable[[str], None]
) -> str | None:
    """Run a plan in its namespaces until it ends or the time is over; the reason why that is not possible here, or None."""
    log, told = scratch.folder / "log", dict[str, Any]()
    with _running(scratch, plan, deadline, log) as lines:
        for line in lines:
            document = json.loads(line)
            told |= document
            if "check" in document:
                found(convert(document["check"], Check))
            elif "change" in document:
                changed(str(document["change"]))
    said = log.read_text(errors="replace").strip()[-2000:]
    if told.get("done"):
        return None
    if time.monotonic() >= deadline:
        sentence = f"The rehearsal did not come to an end within {_SECONDS / 60:.0f} minutes."
        found(Check("time", False, sentence, "This machine may be too busy; try again later."))
    elif "impossible" not in told:
        return f"Namespaces for a rehearsal cannot be created here: {(said or 'no reason was given.').splitlines()[-1][:300]}"
    elif told["impossible"]:
        return f"No sandbox starts in a rehearsal here: {told['impossible']}"
    else:
        found(Check("rehearsal", False, "The rehearsal itself came to no end.", said or None))
    return None


@contextmanager
def _running(scratch: Scratch, plan: Plan, deadline: float, log: Path) -> Iterator[Iterator[bytes]]:
    """Run a plan in its namespaces and give the lines that it prints; the end of the block ends everything in there."""
    command = [sys.executable, "-m", "parachute.ops.rehearsal.trial", str(plan.write(scratch.folder / "plan.json"))]
    if ionice := shutil.which("ionice"):
        command = [ionice, "-c", "2", "-n", "7", *command]
    with log.open("wb") as written:
        process = subprocess.Popen(
            command, env=plan.environment, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=written
        )
    stdout = process.stdout
    assert stdout is not None
    # bubblewrap ends with it, and the namespace with bubblewrap.
    timer = threading.Timer(max(0.0, deadline - time.monotonic()), process.kill)
    timer.start()
    try:
        yield iter(lambda: stdout.readline(_LINE), b"")
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        stdout.close()


def _shown(python: Path, scratch: Scratch) -> list[str]:
    """Return the folders that are needed and lie in hidden ones."""
    own = Path(__file__).resolve().parents[3]  # from where this version is imported, which may be a checkout
    needed = {Path(sys.prefix), Path(sys.base_prefix), own, python.absolute().parent.parent, scratch.folder}
    # A link is no place to mount something on for bubblewrap, and what it leads to may be hidden.
    needed |= {path.resolve() for path in needed}
    return sorted(str(path) for path in needed if any(path.is_relative_to(folder) for folder in HIDDEN))


def _not_copied(error: ParachuteError | OSError) -> Check:
    if isinstance(error, ParachuteError):
        return Check("copies", False, error.message, error.hint)
    name = f": {error.filename}" if error.filename else ""
    return Check(
        "copies", False, f"The copies cannot be made: {error.strerror or error}{name}.", "Look at that file or folder."
    )
