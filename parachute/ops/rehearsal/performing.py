"""Performing a rehearsal: the copies are made, the namespace is started and watched, and everything is removed again."""

import json
import os
import selectors
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from parachute.base.errors import Conflict, InvalidInput, ParachuteError
from parachute.base.files import private_folder
from parachute.base.single_instance import Taken, single_instance
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load
from parachute.ops.rehearsal import environment
from parachute.ops.rehearsal.entering import HIDDEN
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.rehearsal.plan import Plan
from parachute.ops.rehearsal.staging import Scratch, Staged, remove_private

SECONDS = 300.0
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
    deadline = time.monotonic() + SECONDS
    checks: list[Check] = []

    def found(check: Check) -> None:
        checks.append(check)
        report(check)

    try:
        with _prepared(home, python, deadline, declared) as (scratch, plan):
            try:
                staged = scratch.stage(home, Path(plan.vault), deadline)
            except (ParachuteError, OSError) as error:
                found(_not_copied(error))
                return Rehearsal(tuple(checks))
            found(Check("copies", True, "Everything that the new version may change is copied."))
            changes = _followed(scratch, plan.on(staged), deadline, found)
        return Rehearsal(tuple(checks), tuple(changes))
    except _Impossible as error:
        return Rehearsal(impossible=str(error))


def start_restored(home: Home, state: Path, vault: Path) -> Rehearsal:
    """Start the present version on a state directory and a vault that a backup has brought back, which it changes. Waits.

    Errors: Conflict while a rehearsal is under way, ConfigError, OSError.
    """
    remove_private(state)
    deadline = time.monotonic() + SECONDS
    checks: list[Check] = []
    try:
        with _prepared(home, Path(sys.executable), deadline) as (scratch, plan):
            staged = Staged(binds=[(str(state), plan.home), (str(vault), plan.vault)])
            _followed(scratch, plan.on(staged, "restored"), deadline, checks.append)
        return Rehearsal(tuple(checks))
    except _Impossible as error:
        return Rehearsal(impossible=str(error))


class _Impossible(Exception):
    """Nothing can be rehearsed on this machine; the text is a sentence."""


@contextmanager
def _prepared(
    home: Home, python: Path, deadline: float, declared: Path | None = None
) -> Iterator[tuple[Scratch, Plan]]:
    """Make the scratch folder and a plan in which nothing is mounted yet, and try it. Error: _Impossible."""
    if sys.platform != "linux":
        raise _Impossible("A rehearsal needs the namespaces of Linux.")
    if not shutil.which("bwrap"):
        raise _Impossible("bubblewrap is not installed.")
    running = environment.of_running(home)
    # What it was started with counts, and not what this shell says.
    for name in [name for name in os.environ if name.startswith("PARACHUTE_")]:
        del os.environ[name]
    os.environ.update(running)
    settings = load(home)
    scratch = Scratch.of(home)
    with ExitStack() as stack:
        try:
            stack.enter_context(single_instance(private_folder(home.run) / "rehearsal.lock"))
        except Taken as error:
            raise Conflict(
                f"A rehearsal is under way (process {error.process}).", "Wait for its end.", key="rehearsal_under_way"
            ) from error
        stack.enter_context(scratch.made())
        plan = _plan(home, settings, python, environment.of_new_version(home, scratch, running, declared))
        if (reason := _probed(scratch, plan.on(_empty(scratch, plan), "probe"), deadline)) is not None:
            raise _Impossible(reason)
        yield scratch, plan


def _followed(scratch: Scratch, plan: Plan, deadline: float, found: Callable[[Check], None]) -> list[str]:
    changes: list[str] = []
    is_done = False
    with _running(scratch, plan) as (process, log):
        for line in _lines(process, deadline):
            if "check" in line:
                found(Check.from_json(line["check"]))
            elif "change" in line:
                changes.append(str(line["change"]))
            is_done = is_done or "done" in line
        if is_done:
            return changes
        if time.monotonic() >= deadline:
            sentence = f"The rehearsal did not come to an end within {SECONDS / 60:.0f} minutes."
            found(Check("time", False, sentence, "This machine may be too busy; try again later."))
        else:
            process.wait()
            said = log.read_text(errors="replace").strip()[-2000:]
            found(Check("rehearsal", False, "The rehearsal itself came to no end.", said or None))
    return changes


def _probed(scratch: Scratch, plan: Plan, deadline: float) -> str | None:
    """Say why no rehearsal is possible here, None if one is."""
    with _running(scratch, plan) as (process, log):
        for line in _lines(process, min(deadline, time.monotonic() + 60)):
            reason = line["probe"]
            return f"No sandbox starts in a rehearsal here: {reason}" if reason else None
        process.kill()
        process.wait()
        said = log.read_text(errors="replace").strip().splitlines() or ["no reason was given."]
        return f"Namespaces for a rehearsal cannot be created here: {said[-1][:300]}"


@contextmanager
def _running(scratch: Scratch, plan: Plan) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """Run the plan in its namespace; the end of the block ends everything in there."""
    path = plan.write(scratch.folder / "plan.json")
    log = scratch.folder / "log"
    command = [sys.executable, "-m", "parachute.ops.rehearsal.entering", str(path)]
    if found := shutil.which("ionice"):
        command = [found, "-c", "2", "-n", "7", *command]
    with log.open("wb") as written:
        process = subprocess.Popen(
            command, env=plan.environment, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=written
        )
    try:
        yield process, log
    finally:
        # bubblewrap ends with it, and the namespace with bubblewrap.
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _lines(process: "subprocess.Popen[bytes]", deadline: float) -> Iterator[dict[str, Any]]:
    """Give what it says until it ends, or the time is over."""
    assert process.stdout is not None
    descriptor, rest = process.stdout.fileno(), b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0 and len(rest) < _LINE:
            if not selector.select(left):
                continue
            data = os.read(descriptor, 64 * 1024)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                document = json.loads(line)
                if isinstance(document, dict):
                    yield document


def _plan(home: Home, settings: Settings, python: Path, variables: dict[str, str]) -> Plan:
    hidden = [Path(folder) for folder in HIDDEN]
    needed = {
        Path(sys.prefix),
        Path(sys.base_prefix),
        _package_folder(),
        python.absolute().parent.parent,
        Scratch.of(home).folder,
    }
    # A link is no place to mount something on for bubblewrap, and what it leads to may be hidden.
    needed |= {path.resolve() for path in needed}
    login = Path.home() / ".claude" / ".credentials.json"
    return Plan(
        home=str(home.root.resolve()),
        vault=str(settings.vault.resolve()),
        port=settings.port,
        # Not resolved: in a virtual environment that would be another interpreter.
        python=str(python.absolute()),
        old_python=sys.executable,
        shown=sorted(str(path) for path in needed if any(path.is_relative_to(folder) for folder in hidden)),
        masked=[str(login.resolve())] if login.exists() else [],
        environment=variables,
    )


def _empty(scratch: Scratch, plan: Plan) -> Staged:
    empty = scratch.folder / "empty"
    empty.mkdir(mode=0o700)
    return Staged(binds=[(str(empty), plan.home)])


def _package_folder() -> Path:
    """The folder from which this version is imported, which may be a checkout."""
    return Path(__file__).resolve().parents[3]


def _not_copied(error: ParachuteError | OSError) -> Check:
    if isinstance(error, ParachuteError):
        return Check("copies", False, error.message, error.hint)
    name = f": {error.filename}" if error.filename else ""
    return Check(
        "copies", False, f"The copies cannot be made: {error.strerror or error}{name}.", "Look at that file or folder."
    )
