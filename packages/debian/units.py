"""The units of the package: those of `parachute service install`, for the user of the service alone."""

import sys

from packages.program import HOME, INTERPRETER, USER
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.supervisor import installed


def units(host: str | None = None) -> dict[str, str]:
    """The files by name, for this address or that of the settings; units in /usr belong to every user's manager, so for all but one they do not exist."""
    address = {name: Settings.model_fields[name].default for name in ("host", "port")}
    address["host"] = host or address["host"]
    files = installed.render(Home(HOME / ".parachute"), **address, lingers_for_us=False)
    return {name: _for_the_package(text) for name, text in files.items()}


def _for_the_package(text: str) -> str:
    started_by = text.replace(sys.executable, str(INTERPRETER))
    return started_by.replace("[Unit]\n", f"[Unit]\nConditionUser={USER}\n", 1)
