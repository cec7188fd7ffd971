"""Where things are inside of a box, in every engine the same."""

from pathlib import Path

HOME = "/home/agent"
RUNNER = "/opt/parachute/parachute_runner"
PROGRAM = "/opt/parachute/agent"
SOCKETS = "/run/parachute"
EGRESS_SOCKET = "egress.sock"


def runner_folder() -> Path:
    """The folder of the agent runner on this machine."""
    import parachute_runner

    return Path(parachute_runner.__path__[0])
