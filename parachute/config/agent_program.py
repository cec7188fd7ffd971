"""The program that is the agent, Claude Code: the one that the SDK brings, or another one of the machine."""

import os
from importlib.util import find_spec
from pathlib import Path

from parachute.base.errors import InvalidInput

VARIABLE = "PARACHUTE_AGENT_PROGRAM"
"""Names another program, such as the one of nixpkgs; an absolute path."""


def agent_program() -> Path:
    """The path of the program, which need not exist, found without importing the SDK: that would cost the supervisor 70 MB.

    Error: InvalidInput for a relative path, and where neither is installed.
    """
    if chosen := os.environ.get(VARIABLE):
        if not Path(chosen).is_absolute():
            raise InvalidInput(f"{VARIABLE}: {chosen!r} is no absolute path.", key="no_agent_program")
        return Path(chosen)
    found = find_spec("claude_agent_sdk")
    if found is None or not found.submodule_search_locations:
        raise InvalidInput("The package claude-agent-sdk is not installed.", key="no_agent_program")
    return Path(found.submodule_search_locations[0]) / "_bundled" / "claude"
