"""Reasons why a sandbox ended unasked, in sentences."""

import asyncio
import re
import time

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.sandbox.engines import containers
from parachute.sandbox.engines.models import Specification
from parachute.supervisor import control
from parachute.supervisor.logs import log_path

_SECONDS, _STEP_SECONDS = 5.0, 0.05
_RECENT_SECONDS = 20.0
_SETTLED = ("failed", "listening", "running")
_KILLED = re.compile(r"was ended by signal 9\b|ended with status 137\b")
_UNPROTECTED = re.compile(r"ended with status 76\b")
_PODMAN_FAILED = re.compile(r"ended with status 12[567]\b")


async def why(home: Home, specification: Specification, trial: Specification | None) -> str | None:
    """The reason why a sandbox has ended, in sentences, or None where it has not.

    Waits for a few seconds until the supervisor has noticed it. `trial` is run where Podman could not start its container:
    it says why not.
    """
    name = f"sandbox@{specification.session}"
    reason = await _reason(home, name)
    if reason is None:
        return None
    said = [f"The sandbox of this conversation has ended: {reason}"]
    if _KILLED.search(reason):
        said.append(_about_memory(specification))
    if _UNPROTECTED.search(reason):
        said.append(
            "A file that no agent may write was replaced while it ran, as `git config` and editors do, and was not protected any "
            "more. The next message starts a new one."
        )
    if trial is not None and _PODMAN_FAILED.search(reason):
        try:
            if found := await asyncio.to_thread(containers.unavailable, trial):
                said.append(found)
        except ParachuteError as error:
            said.append(error.message)
    if str(log := log_path(home, name)) not in reason:
        said.append(f"Its log is {log}.")
    return " ".join(said)


def _about_memory(specification: Specification) -> str:
    if specification.engine != "podman" or not specification.limits_enforced:
        return "The system does that when it has no memory left."
    return f"The system does that when the {specification.memory_megabytes} MB of memory that it may have are full."


async def _reason(home: Home, name: str) -> str | None:
    """The supervisor's reason, once it knows of the end and has tried again; None if it has none."""
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            units = (await control.ask(home, "status"))["units"]
        except ParachuteError:
            return None
        unit = next((unit for unit in units if unit["name"] == name), None)
        if unit is None:
            return None
        has_failed = unit["failure"] is not None and unit["failure_seconds"] < _RECENT_SECONDS
        if (has_failed and unit["state"] in _SETTLED) or time.monotonic() > deadline:
            return str(unit["failure"]) if has_failed else None
        await asyncio.sleep(_STEP_SECONDS)
