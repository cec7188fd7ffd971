"""The supervisor as an agent of launchd, which macOS has in systemd's place: a file in ~/Library/LaunchAgents.

The keys are those of launchd.plist(5).
"""

import os
import plistlib
import sys
from pathlib import Path
from xml.parsers.expat import ExpatError

from parachute.base.files import atomic_write
from parachute.config.settings.home import Home

LABEL = "computer.parachute.supervisor"
_STOP_SECONDS = 60
_AGAIN_SECONDS = 10


def path() -> Path:
    """The file of this user's agent."""
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def render(home: Home, host: str, port: int) -> bytes:
    """The agent that starts the supervisor when its user logs in, and again when it fails."""
    log = str(home.root / "logs" / "supervisor.log")
    command = [sys.executable, "-m", "parachute.supervisor", "--host", host, "--port", str(port)]
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": command,
            "EnvironmentVariables": {"PARACHUTE_HOME": str(home.root)},
            # Python imports from the folder it is started in.
            "WorkingDirectory": "/",
            "RunAtLoad": True,
            # `parachute stop` ends it well, and then it stays down.
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": _AGAIN_SECONDS,
            "ExitTimeOut": _STOP_SECONDS,
            # Somebody waits for its answers: without this, launchd gives it little of the processor and the disk.
            "ProcessType": "Interactive",
            "Umask": 0o077,
            # A dump of memory could hold keys.
            "SoftResourceLimits": {"Core": 0},
            "HardResourceLimits": {"Core": 0},
            "StandardOutPath": log,
            "StandardErrorPath": log,
        }
    )


def is_for(home: Home) -> bool:
    """True if this user's agent starts the computer of this state directory."""
    return _document(home) is not None


def move(home: Home, host: str, port: int) -> None:
    """Have the agent of this computer, if there is one, start it on another address from now on."""
    if is_for(home):
        atomic_write(path(), render(home, host, port), 0o644)


def host_in_file(home: Home) -> str | None:
    """The address in the file for a process that launchd has started: it starts by what the file said at the login."""
    if os.environ.get("XPC_SERVICE_NAME") != LABEL:
        return None
    command = (_document(home) or {}).get("ProgramArguments")
    if not isinstance(command, list) or "--host" not in command[:-1]:
        return None
    return str(command[command.index("--host") + 1])


def _document(home: Home) -> dict[str, object] | None:
    """The agent of this computer, None if there is none of it."""
    try:
        document = plistlib.loads(path().read_bytes())
    except (OSError, plistlib.InvalidFileException, ExpatError, ValueError):
        return None
    variables = document.get("EnvironmentVariables") if isinstance(document, dict) else None
    return document if isinstance(variables, dict) and variables.get("PARACHUTE_HOME") == str(home.root) else None
