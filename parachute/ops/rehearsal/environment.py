"""The environment of a new version in a rehearsal: that of the running one without its credentials, and what a rehearsal sets."""

import asyncio
import functools
import json
import os
from contextlib import suppress
from pathlib import Path

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import atomic_write, read_regular
from parachute.config.declared.file import DEFAULT, MAXIMUM_BYTES, VARIABLE
from parachute.config.settings.home import Home
from parachute.ops.rehearsal.staging import Scratch
from parachute.supervisor import control

_VARIABLES = ("HOME", "LANG", "LC_ALL", "PATH", "TZ", "USER", "LOGNAME")
_NOT_PASSED = frozenset(
    ("PARACHUTE_HOME", "PARACHUTE_HOST", "PARACHUTE_PORT", "PARACHUTE_PROGRAMS", "PARACHUTE_CREDENTIALS_FD")
)
_OF_A_REHEARSAL = {
    # The index of meanings would take minutes to make.
    "PARACHUTE_MEANING__ENABLED": "false",
    # Containers do not start in a namespace like this.
    "PARACHUTE_SANDBOX__ENGINE": "bubblewrap",
    "PARACHUTE_AGENTS__SPARE": "false",
}


def of_running(home: Home) -> dict[str, str]:
    """The settings with which the computer was started, of this process where it does not run."""
    own = {name: value for name, value in os.environ.items() if name.startswith("PARACHUTE_")}
    with suppress(Unavailable, OSError, LookupError):  # nothing runs
        own = dict(asyncio.run(control.ask(home, "started_with", 10))["environment"])
    return {name: str(value) for name, value in own.items() if name.upper() not in _NOT_PASSED}


def of_new_version(
    home: Home, scratch: Scratch, running: dict[str, str], declared: Path | None = None
) -> dict[str, str]:
    """All variables of the new version, to which the system declares `declared`, None for the same as now; errors: InvalidInput for a declaration that cannot be read, OSError."""
    plain = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    copied = _declared(scratch, declared or Path(running.get(VARIABLE, DEFAULT)))
    places = {"HOME": str(Path.home()), "PARACHUTE_HOME": str(home.root)}
    return {**plain, **running, **copied, **_OF_A_REHEARSAL, **places}


def _declared(scratch: Scratch, path: Path) -> dict[str, str]:
    """Name a copy of what the system declares, without the settings of a rehearsal, over which it would go."""
    try:
        document = json.loads(read_regular(path.resolve(), MAXIMUM_BYTES))
        settings = document.get("settings", {})
        for variable in _OF_A_REHEARSAL:
            *groups, name = variable.removeprefix("PARACHUTE_").lower().split("__")
            group = functools.reduce(lambda found, part: found.get(part, {}), groups, settings)
            group.pop(name, None)
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}.", "It belongs to the system: rebuild that.", key="settings_unreadable"
        ) from error
    copy = scratch.folder / "declared.json"
    atomic_write(copy, json.dumps(document))
    return {VARIABLE: str(copy)}
