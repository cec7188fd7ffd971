"""The address that `start` was given on its command line: a restart keeps it until the settings say another one."""

from collections.abc import Mapping
from typing import Any

from parachute.base.errors import Unavailable
from parachute.cli.api import ask_supervisor
from parachute.config.settings.home import Home
from parachute.supervisor.models import GIVEN_HOST

# In the environment, which stays with the supervisor when it becomes another version: an older one refuses options that it does not know.
_VARIABLES = {"host": GIVEN_HOST, "port": "PARACHUTE_INSTEAD_OF_PORT"}
"""Variables with the value of the settings where the command line had another one; empty where it had none."""


def variables(given: Mapping[str, object], settings: Mapping[str, object]) -> dict[str, str]:
    """Return what a supervisor is started with, so that a restart can tell what was given."""
    return {variable: "" if given[name] is None else str(settings[name]) for name, variable in _VARIABLES.items()}


def of_running(home: Home) -> dict[str, Any]:
    """Return what the running computer was started with, nothing if none runs or it does not answer."""
    try:
        return ask_supervisor(home, "started_with", 10)
    except Unavailable:
        return {}


def was_given(started: Mapping[str, Any], name: str) -> bool:
    """Return whether `start` was given a host, or a port."""
    return bool(started and started["environment"].get(_VARIABLES[name]))


def is_kept(started: Mapping[str, Any], name: str, value: object) -> bool:
    """Return whether a restart keeps what was given: if the settings' `value` is what it was at the start."""
    return was_given(started, name) and started["environment"][_VARIABLES[name]] == str(value)


def source(name: str) -> str:
    """Return from where such a value comes, for the table of settings."""
    return f"start --{name}"
