"""Installing the computer as an agent of launchd with the program `launchctl`, as a person of macOS would."""

import contextlib
import os
import shutil
import time
from pathlib import Path

from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.base.files import atomic_write
from parachute.cli import lifecycle, programs
from parachute.config.settings.home import Home
from parachute.supervisor import launch_agent, pid_file

_SECONDS = 60.0
_POLL_SECONDS = 0.05


def is_there() -> bool:
    """True where launchd starts services."""
    return shutil.which("launchctl") is not None


def install(home: Home, host: str, port: int) -> Path:
    """Write the agent, start it, and return its file.

    Errors: Conflict where the computer runs without it or the agent is another computer's; Unavailable and NotStarted, and then
    what was there before is back.
    """
    file = launch_agent.path()
    before = file.read_bytes() if file.exists() else None
    if before is None:
        lifecycle.check_not_running(home)
    elif not launch_agent.is_for(home):
        raise Conflict(
            f"{file} is another computer's.",
            "With its PARACHUTE_HOME `parachute service uninstall` removes it. A user of macOS has one computer as a service.",
            key="launch_agent_taken",
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    _ = home.logs  # made here: launchd opens them before anything of ours runs
    try:
        _unload(home)
        atomic_write(file, launch_agent.render(home, host, port), 0o644)
        _load(home)
    except BaseException:
        with contextlib.suppress(ParachuteError):
            _unload(home)
        if before is None:
            file.unlink(missing_ok=True)
        else:
            atomic_write(file, before, 0o644)
            _launchctl("bootstrap", _domain(), str(file), check=False)
        raise
    return file


def uninstall(home: Home) -> list[Path]:
    """Stop everything, and remove what `install` wrote; returns the removed files, none if there were none."""
    if not launch_agent.is_for(home):
        return []
    _unload(home)
    launch_agent.path().unlink()
    return [launch_agent.path()]


def start(home: Home) -> None:
    """Start what is installed, and wait until core serves; errors: Unavailable, NotStarted."""
    if _is_loaded():
        _launchctl("kickstart", _target())
        lifecycle.wait_until_ready(home)
    else:
        _load(home)


def _load(home: Home) -> None:
    # One that somebody has disabled could not be loaded.
    _launchctl("enable", _target())
    _launchctl("bootstrap", _domain(), str(launch_agent.path()))
    lifecycle.wait_until_ready(home)


def _unload(home: Home) -> None:
    """End the agent, and wait for its end: launchctl does not, and a new one could not be loaded before."""
    if not _is_loaded():
        return
    if pid_file.is_running(home):
        lifecycle.stop(home)
    _launchctl("bootout", _target(), check=False)
    deadline = time.monotonic() + _SECONDS
    while _is_loaded():
        if time.monotonic() > deadline:
            raise Unavailable(
                f"launchd did not end {launch_agent.LABEL} within {_SECONDS:.0f} seconds.",
                f"`launchctl print {_target()}` shows its state.",
                key="launch_agent_not_ended",
            )
        time.sleep(_POLL_SECONDS)


def _is_loaded() -> bool:
    return programs.run("launchctl", "print", _target()).returncode == 0


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _target() -> str:
    return f"{_domain()}/{launch_agent.LABEL}"


def _launchctl(*arguments: str, check: bool = True) -> None:
    answer = programs.run("launchctl", *arguments)
    if check and answer.returncode != 0:
        raise Unavailable(
            f"launchctl {arguments[0]} failed: {answer.stderr.strip()}",
            "Log in at the screen as this user, and try again; `parachute logs supervisor` shows its output.",
            key="launchctl_failed",
        )
