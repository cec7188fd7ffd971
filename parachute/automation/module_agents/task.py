"""A task of an agent for which nobody waits, such as one that is due each day."""

from collections.abc import Callable

from msgspec import Struct

from parachute.chat.agent_processes.models import OwnTool
from parachute.security.origin import Origin


class Task(Struct, frozen=True):
    """One run. `agent` and `path` say who works and where that was written; `mcp_tools` are tools of modules by name.

    `prompt` is the system prompt; the first line of `message` becomes the title of the session. `own_tools` gives the tools of
    the computer itself that this run has, for the id of its session. `origin` is the lowest of what it is about.
    """

    agent: str
    path: str
    prompt: str
    message: str
    capabilities: tuple[str, ...] = ()
    mcp_tools: tuple[str, ...] = ()
    model: str | None = None
    own_tools: Callable[[str], tuple[OwnTool, ...]] | None = None
    origin: Origin = Origin.OWN_FILE
