"""Running Podman beside a session: whether it may be used here, what it left behind, and the image that was built."""

import json
import os
import shutil
import subprocess

from parachute.errors import InvalidInput, Unavailable
from parachute.image.models import Image
from parachute.programs.starting import outside
from parachute.sandbox import podman
from parachute.sandbox.models import Specification
from parachute.sandbox.places import RUNNER, runner_folder
from parachute.settings.home import Home

_HINT = "Build it again: parachute sandbox build"
_NO_IMAGE = "image not known"
_PROBE_SECONDS = 120.0  # the first start after a build gives every file of the image another owner


def unavailable(trial: Specification | None) -> str | None:
    """Why Podman cannot be used here, as a sentence, or None; `trial` is run to find out, since policies differ.

    Error: Unavailable when it could not be found out: that is no reason to go without a sandbox.
    """
    if os.geteuid() == 0:
        return "Containers of agents are never started by root."
    if not shutil.which("podman"):
        return "Podman is not installed."
    if trial is None:
        return "There is no image for containers yet; `parachute sandbox build` makes it."
    try:
        attempt(trial)
    except InvalidInput as error:
        return error.message
    return None


def image_of(home: Home) -> Image | None:
    """The image that was built; None also for a record that cannot be read, which counts as none."""
    try:
        return Image.load(home.root)
    except InvalidInput:
        return None


def attempt(trial: Specification) -> None:
    """Run a container and look from inside whether it is shut in as was asked.

    Errors: InvalidInput with what differs, Unavailable when it could not be found out. Waits; not for the event loop.
    """
    if _asked("info", "--format={{.Store.GraphDriverName}}") == "vfs":
        raise InvalidInput(
            "Podman stores images with vfs, and would copy the whole image for each conversation.",
            "`parachute doctor` says how to change that.",
        )
    probe = [podman.INTERPRETER, "-IS", f"{RUNNER}/probe.py", "--limits", json.dumps(podman.expected_limits(trial))]
    program = [
        "podman",
        "run",
        *podman.isolation(trial, log="none"),
        *podman.mount(str(runner_folder()), RUNNER, writable=False),
    ]
    try:
        done = subprocess.run(
            _outside(*program, trial.image, *probe),
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(
            f"It cannot be told whether Podman works: {error}.", "Try again.", key="no_sandbox"
        ) from error
    if _NO_IMAGE in done.stderr:
        raise InvalidInput("The image for containers is gone; `parachute sandbox build` makes it again.")
    if done.returncode != 0:
        said = done.stdout.strip() or " / ".join(done.stderr.splitlines()[-3:])
        raise InvalidInput(f"Podman may not be used here: {said[-400:] or 'it did not say why'}.", _HINT)


def remove_all(installation: str) -> None:
    """End the containers that an earlier core of this installation left; waits."""
    names = _outside("podman", "ps", "--all", "--quiet", f"--filter=label={podman.LABEL}={installation}")
    try:
        found = subprocess.run(names, capture_output=True, text=True, timeout=60, check=False).stdout.split()
        if found:
            subprocess.run(
                _outside("podman", "rm", "--force", "--time=0", *found), capture_output=True, timeout=60, check=False
            )
    except (OSError, subprocess.TimeoutExpired):
        pass  # what is left is replaced by the next container of the same session


def remove(specification: Specification) -> None:
    """Remove what may be left of a session's container that has ended; waits."""
    # Not by force: meanwhile the session may have another one, which runs.
    names = _outside("podman", "rm", "--ignore", podman.container_name(specification))
    try:
        subprocess.run(names, capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        pass  # the next container of this session replaces it, and the next core removes it


def version() -> str | None:
    """Podman's own version, or None where it is not installed."""
    return _asked("--version")


def _asked(*arguments: str) -> str | None:
    """The last word that Podman says, None if it says nothing."""
    try:
        done = subprocess.run(_outside("podman", *arguments), capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout.split() else None


def _outside(*command: str) -> list[str]:
    """What Podman leaves running belongs to it: the process that holds its namespace."""
    return outside(command, leaves=True)
