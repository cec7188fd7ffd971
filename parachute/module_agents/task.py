"""A task of a module's agent that neither a person nor the module has just asked for, such as one that is due each day."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Task:
    """One run. `agent` and `path` say who works and where that was written; `mcp_tools` are tools of modules by name.

    `prompt` is the system prompt; the first line of `message` becomes the title of the session.
    """

    agent: str
    path: str
    prompt: str
    message: str
    capabilities: tuple[str, ...] = ()
    mcp_tools: tuple[str, ...] = ()
    model: str | None = None
