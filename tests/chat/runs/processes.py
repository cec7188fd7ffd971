"""Finding the processes of a computer."""

import psutil

from tests.support.computer import command_line
from tests.support.installation import Installation


def agents(installation: Installation) -> list[psutil.Process]:
    """The agents' programs that run now, inside sandboxes and directly on this machine."""
    names = ("/agent", "/claude")
    # The scripted one is run by an interpreter: its path is the third part.
    return [
        process
        for process in installation.processes()
        if any(part.endswith(names) for part in command_line(process)[:3:2])
    ]


def agent_of(installation: Installation, session: str) -> psutil.Process:
    """The agent's program that answers in a session."""
    (found,) = [process for process in agents(installation) if any(session in part for part in command_line(process))]
    return found
