"""Finding the processes of a computer."""

import psutil

from tests.support.computer import command_line
from tests.support.installation import Installation


def agents(installation: Installation) -> list[psutil.Process]:
    """The agents' programs that run now, inside sandboxes and directly on this machine."""
    names = ("/agent", "/claude")
    return [process for process in installation.processes() if "".join(command_line(process)[:1]).endswith(names)]


def agent_of(installation: Installation, session: str) -> psutil.Process:
    """The agent's program that answers in a session."""
    (found,) = [process for process in agents(installation) if any(session in part for part in command_line(process))]
    return found
