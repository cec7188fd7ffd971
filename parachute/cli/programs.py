"""Asking programs of the system, such as systemctl and launchctl, as a person would."""

import subprocess

_SECONDS = 240


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; one that is not there, or takes longer than 240 s, has failed with that as its error."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=_SECONDS
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))
