"""Measuring in the booted guest of the appliance's tests: its user may have containers, which root does not get."""

import json
import os
import shlex
import subprocess
from collections.abc import Iterator

from bench.results import NotMeasurable, Result
from tests.appliance import recipe
from tests.appliance.agents import TARBALL, Image
from tests.appliance.backend import GuestBackend
from tests.appliance.build_root import build, missing
from tests.appliance.guest import Guest

_SECONDS = 1200


def is_of_use() -> bool:
    """True as root with the guest's root built: a benchmark does not begin with a large download."""
    return os.geteuid() == 0 and missing() is None and recipe.debian().path.exists() and recipe.python().path.exists()


def measure(name: str) -> Iterator[Result]:
    """The results of a benchmark that the guest's user runs, with an image for containers built before.

    Its control groups limit nothing on a machine with those of the first kind, so limits are left out there.
    """
    with Guest(build()) as guest, Image(guest).root():
        # As it would be where it was installed; the user cannot write there.
        guest.root.check_output(f"{recipe.ENVIRONMENT}/bin/python -m compileall -q {recipe.SOURCE}")
        if not _limits_are_held(guest):
            guest.user.check_output("parachute config set sandbox.limits unavailable")
        _run(guest, f"parachute sandbox build --from-tar {TARBALL}")
        said = _run(guest, f"PYTHONPATH={recipe.SOURCE} {recipe.ENVIRONMENT}/bin/python -m bench {shlex.quote(name)}")
        results = json.loads(guest.user.check_output("cat build/bench.json"))
    yield from map(Result.of_json, results)
    if remarks := [line for line in said.splitlines() if "not measured here" in line]:
        raise NotMeasurable(" ".join(remarks))


def _limits_are_held(guest: Guest) -> bool:
    folder = f"/sys/fs/cgroup/user.slice/user-{recipe.USER_ID}.slice/user@{recipe.USER_ID}.service"
    return "memory" in guest.user.run(f"cat {folder}/cgroup.controllers").stdout.split()


def _run(guest: Guest, command: str) -> str:
    backend = guest.user.backend
    assert isinstance(backend, GuestBackend)
    done = subprocess.run(
        backend.entered("sh", "-c", f"cd; {command}"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}.\n{done.stdout}\n{done.stderr}"
    return done.stdout
