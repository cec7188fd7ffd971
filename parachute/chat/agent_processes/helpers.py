"""Helpers: the agents to which an agent gives a part of its work (its tool `Task`), in its own process and sandbox.

The program's own are switched off: they know nothing of the instructions and the place that the conversation has, and some are for
the program's screen.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from claude_agent_sdk import AgentDefinition

TOOL_NAMES = ("Agent", "Task")
"""The tool that starts a helper: as the model knows it, and as lists of tools and the app do."""

_TASK = (
    "You do one task for another agent, which works for the owner of this computer. It sees nothing but your last message: say there "
    "what it needs, briefly, with the paths of files, and what you could not do."
)
_READS = ("Read", "Glob", "Grep", "WebFetch", "WebSearch")


def definitions(tools: tuple[str, ...], place: str) -> "dict[str, AgentDefinition]":
    """The helpers of an agent with these tools; `place` is the part of its prompt that holds for them, too."""
    if not set(TOOL_NAMES) & set(tools):
        return {}
    from claude_agent_sdk import AgentDefinition

    reads = [tool for tool in _READS if tool in tools]
    # Nobody would see its question, and the app shows the list of the conversation alone.
    withheld = ["AskUserQuestion", "TodoWrite"]
    prompt = f"{_TASK}{place}"
    works = "Does a task of several steps by itself, with the same tools and rules as you."
    found = {"general-purpose": AgentDefinition(works, prompt, disallowedTools=withheld)}
    if reads:
        explores = "Reads and searches many files, or pages, and says what it found; it changes nothing."
        found["Explore"] = AgentDefinition(explores, prompt, tools=reads)
    return found


def waited_for(tool: str, tool_input: dict[str, Any]) -> dict[str, Any] | None:
    """The input of a call that starts a helper, so that the turn waits for it; None for other calls.

    By itself the program goes on without it and ends the turn, and between turns nothing may ask the model.
    """
    return {**tool_input, "run_in_background": False} if tool in TOOL_NAMES else None
