"""Whether the program of a server is there, and could run in its sandbox at all."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from parachute.errors import InvalidInput
from parachute.mcp_servers.models import Server

_SYSTEM = "/usr/local/bin:/usr/bin:/bin"
"""What the sandbox has on its PATH."""

_FETCH = frozenset(("bunx", "npx", "pipx", "pnpx", "uvx"))
"""Programs that fetch what they run from the network at each start."""


def check_program(server: Server, hosts: Sequence[str]) -> None:
    """Error: InvalidInput for a program that is not there, and for one that fetches its parts and may reach no host."""
    command = server.command or ""
    name = Path(command).name
    if name in _FETCH and not hosts:
        raise InvalidInput(
            f"{name} fetches its program from the network at each start, and this server may reach none.",
            "Install the program once and name that, or allow the hosts that it is fetched from with --host.",
            key="program_needs_network",
        )
    if shutil.which(command, path=_SYSTEM) is None:
        elsewhere = shutil.which(name)
        raise InvalidInput(
            f"There is no program {command[:200]!r} in {_SYSTEM.replace(':', ', ')}, which is where the sandbox looks.",
            f"It is at {elsewhere}: name it by that path, and give the server its folder with --read."
            if elsewhere and elsewhere != command
            else "Install it, or name it by its absolute path.",
            key="program_missing",
        )
