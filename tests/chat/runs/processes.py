"""Finding the processes of a computer."""

import psutil

from tests.support.computer import command_line
from tests.support.installation import Installation
from tests.support.scripted_agent.packing import scripted_program


def agents(installation: Installation) -> list[psutil.Process]:
    """The agents' programs that run now, inside sandboxes and directly on this machine."""
    # In a sandbox it is `agent`, outside of one its own name; the scripted one is the third part, after its interpreter.
    names = ("/agent", "/claude", f"/{scripted_program().name}")
    return [
        process
        for process in installation.processes()
        if any(part.endswith(names) for part in command_line(process)[:3:2])
    ]


def agent_of(installation: Installation, session: str) -> psutil.Process:
    """The agent's program that answers in a session."""
    (found,) = [process for process in agents(installation) if any(session in part for part in command_line(process))]
    return found
