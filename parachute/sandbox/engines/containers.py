"""Podman apart from sessions: its trial, the containers that it left behind, and the image that was built."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.base.files import private_folder
from parachute.config.settings.home import Home
from parachute.sandbox.engines import podman
from parachute.sandbox.engines.models import Mount, Specification
from parachute.sandbox.engines.views import View
from parachute.sandbox.image.models import Image
from parachute.sandbox.layout import PROJECT, RUNNER, runner_folder
from parachute.supervisor import control
from parachute.supervisor.command_runner.starting import outside

_HINT = "Build it again: parachute sandbox build"
_NO_IMAGE = "image not known"
_USED = ("starting", "running", "stopping")
_PROBE_SECONDS = 120.0  # the first start after a build gives every file of the image another owner


def unavailable(trial: Specification | None) -> str | None:
    """The reason why Podman cannot be used here, as a sentence, or None; `trial` is run to find out, since policies differ.

    Error: Unavailable when it could not be found out: that is no reason to go without a sandbox.
    """
    if os.geteuid() == 0:
        return "Containers of agents are never started by root."
    if not shutil.which("podman"):
        return "Podman is not installed."
    if trial is None:
        return "No container image yet; `parachute sandbox build` makes it."
    try:
        attempt(trial)
    except InvalidInput as error:
        return error.message
    return None


def no_views(trial: Specification, folder: Path) -> str | None:
    """The reason why containers cannot have copy-on-write views whose files are in `folder`, as a sentence, or None.

    Error: Unavailable when it could not be found out. Waits.
    """
    view = View(private_folder(folder) / ".tried-in-a-container").make()
    below = private_folder(view.folder / "below")
    if not podman.can_be_viewed(view.folder):
        return f"Podman cannot mount a view in {folder}, for the signs in its name."
    given = podman.mounted(Mount(str(below), PROJECT, writable=True, view=str(view.folder)))
    program = ["sh", "-c", f"echo written > {PROJECT}/file && stat --file-system --format=%T {PROJECT}"]
    command = ("podman", "run", *podman.isolation(trial, log="none"), *given, trial.image, *program)
    try:
        done = subprocess.run(
            outside(command, leaves=True), capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
        said = done.stderr.strip().splitlines() or [""]
        if done.returncode != 0:
            return f"Podman cannot mount a copy-on-write view: {said[-1][-200:]}."
        kept = (view.upper / "file").is_file() and not (below / "file").exists()
        if not kept or done.stdout.strip() != "overlayfs":
            return "Podman mounts views by a program of its own (fuse-overlayfs), and not by the kernel."
        return None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(
            f"A view in a container could not be tested: {error}.", "Try again.", key="views_not_tried"
        ) from error
    finally:
        view.remove()


def remove_tree(folder: Path) -> None:
    """Remove a folder of ours in which root of Podman's containers has some; waits."""
    _run("unshare", "rm", "--recursive", "--force", "--one-file-system", "--", str(folder))


def image_of(home: Home) -> Image | None:
    """The image that was built; None also for a record that cannot be read, which counts as none."""
    try:
        return Image.load(home.root)
    except InvalidInput:
        return None


def attempt(trial: Specification) -> None:
    """Run a container that checks from inside that it is confined as asked.

    Errors: InvalidInput with what differs, Unavailable when it could not be found out. Waits; not for the event loop.
    """
    if _last_word("info", "--format={{.Store.GraphDriverName}}") == "vfs":
        raise InvalidInput(
            "Podman stores images with vfs, and would copy the whole image for each conversation.",
            "`parachute doctor` says how to change that.",
            key="images_copied",
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
            outside((*program, trial.image, *probe), leaves=True),
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"Podman could not be tested: {error}.", "Try again.", key="no_sandbox") from error
    if _NO_IMAGE in done.stderr:
        raise InvalidInput(
            "The image for containers is gone; `parachute sandbox build` makes it again.", key="image_gone"
        )
    if done.returncode != 0:
        said = done.stdout.strip() or " / ".join(done.stderr.splitlines()[-3:])
        raise InvalidInput(
            f"Podman may not be used here: {said[-400:] or 'no reason was given'}.", _HINT, key="podman_refuses"
        )


def remove_all(installation: str) -> None:
    """End the containers that an earlier server of this installation left; waits."""
    remove_by_force(list(listed(installation)))


def remove_by_force(identifiers: Sequence[str]) -> None:
    """Remove containers, also those of which Podman does not know that they have ended; waits."""
    arguments = ("--force", "--time=0", *identifiers)
    # At first Podman only records, with an error, that a container whose monitor was killed has ended.
    if identifiers and not _removed(*arguments):
        _removed(*arguments)


def remove(specification: Specification) -> bool:
    """Remove what may be left of a session's container that has ended, and say whether nothing is; waits."""
    # Not by force: meanwhile the session may have another one, which runs.
    return _removed(podman.container_name(specification))


def listed(installation: str) -> dict[str, str]:
    """The names of the containers of an installation by their ids; empty where Podman does not say."""
    label = f"--filter=label={podman.LABEL}={installation}"
    done = _run("ps", "--all", "--no-trunc", "--format={{.ID}} {{.Names}}", label)
    rows = (line.partition(" ") for line in (done.stdout.splitlines() if done else ()))
    return {container: name for container, _, name in rows}


async def remove_left_behind(home: Home) -> None:
    """Remove containers that Podman still lists although their sandboxes have ended, if Podman and the supervisor answer."""
    found = await asyncio.to_thread(listed, home.installation)
    if not found:
        return
    try:
        # Asked afterwards: a container that was listed and whose unit has ended is none that begins.
        units = (await control.ask(home, "status"))["units"]
    except ParachuteError:
        return  # the next start removes them
    await asyncio.to_thread(remove_by_force, list(without_unit(home.installation, found, units)))


def without_unit(installation: str, listed: Mapping[str, str], units: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Choose the listed containers (name by id) whose sandbox is no unit that runs."""
    used = {str(unit["name"]).removeprefix("sandbox@") for unit in units if unit["state"] in _USED}
    # One without a session in its name is a trial or a shell of somebody who is at it now.
    prefix = podman.name_prefix(installation)
    return {
        container: name
        for container, name in listed.items()
        if name.startswith(prefix) and name.removeprefix(prefix) not in used
    }


def version() -> str | None:
    """Podman's own version, or None where it is not installed."""
    return _last_word("--version")


def _removed(*arguments: str) -> bool:
    done = _run("rm", "--ignore", *arguments)
    return done is not None and done.returncode == 0


def _last_word(*arguments: str) -> str | None:
    """The last word of Podman's answer, None if it gives none."""
    done = _run(*arguments, seconds=30)
    return done.stdout.split()[-1] if done and done.returncode == 0 and done.stdout.split() else None


def _run(*arguments: str, seconds: float = 60) -> "subprocess.CompletedProcess[str] | None":
    """Run Podman outside of our service; None where it cannot be run, or takes too long."""
    # The process that holds its namespace stays: it belongs to Podman.
    command = outside(("podman", *arguments), leaves=True)
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
