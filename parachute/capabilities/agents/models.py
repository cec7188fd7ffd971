"""An agent as it was read."""

from msgspec import Struct

from parachute.capabilities.texts import Source


class Agent(Struct, frozen=True):
    """A text that an agent works by; `problem` says why it cannot be used, `note` what is odd in it.

    None for `tools`, `commands` (of a shell), `skills` or `mcp_servers` (the user's own) restricts nothing; whatever they list
    only narrows what the conversation has. `path` lies below the folder that it was read from; `content` is the whole text.
    """

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None
    model: str | None
    commands: tuple[str, ...] | None
    source: Source
    path: str
    skills: tuple[str, ...] | None = None
    mcp_servers: tuple[str, ...] | None = None
    problem: str | None = None
    note: str | None = None
    content: str = ""
    modified: float = 0.0
