"""Helpers: the agents to which an agent gives a part of its work (its tool `Task`), in its own process and sandbox.

The program's own are switched off: they know nothing of the instructions and the place that the conversation has, and some are for
the program's screen.
"""

from typing import TYPE_CHECKING, Any

from parachute.chat.agent_processes.listed_tools import module_tool_listed, server_tool_listed
from parachute.chat.agent_processes.models import AgentSpecification, Helper, ServerTool, shown_name
from parachute.security.permissions.actions import tool_listed

if TYPE_CHECKING:
    from claude_agent_sdk import AgentDefinition

TOOL_NAMES = ("Agent", "Task")
"""The tool that starts a helper: as the model knows it, and as lists of tools and the app do."""

_TASK = (
    "You do one task for another agent, which works for the owner of this computer. It sees nothing but your last message: say there "
    "what it needs, briefly, with the paths of files, and what you could not do."
)
_READS = ("Read", "Glob", "Grep", "WebFetch", "WebSearch")


_GENERAL, _EXPLORE = "general-purpose", "Explore"
BUILT_IN = {
    _GENERAL: "Does a task of several steps by itself, with the same tools and rules as you.",
    _EXPLORE: "Reads and searches many files, or pages, and reports what it found; it changes nothing.",
}
"""The computer's own helpers, with what the model reads about each."""

# Nobody would see its question, and the app shows the list of the conversation alone.
_WITHHELD = ("AskUserQuestion", "TodoWrite")


def definitions(specification: AgentSpecification) -> "dict[str, AgentDefinition]":
    """The helpers of an agent: the computer's own, and the owner's agents."""
    tools = specification.tools
    if not set(TOOL_NAMES) & set(tools):
        return {}
    from claude_agent_sdk import AgentDefinition

    reads = [tool for tool in _READS if tool in tools]
    withheld = list(_WITHHELD)
    # The place is the part of the agent's prompt that holds for its helpers, too.
    prompt = f"{_TASK}{specification.place}"
    found = {_GENERAL: AgentDefinition(BUILT_IN[_GENERAL], prompt, disallowedTools=withheld)}
    if reads:
        found[_EXPLORE] = AgentDefinition(BUILT_IN[_EXPLORE], prompt, tools=reads)
    for helper in specification.helpers:
        own = _tools(helper, specification)
        # Without any tool the program would give it all of them.
        if own == [] or helper.name in BUILT_IN:
            continue
        found[helper.name] = AgentDefinition(
            helper.description or f"The owner's agent {helper.name}.",
            f"{helper.prompt}\n\n{prompt}",
            tools=own,
            disallowedTools=withheld if own is None else None,
            # A model of another provider is none of this conversation's: the helper has the one that the agent has.
            model=None if "/" in (helper.model or "") else helper.model,
        )
    return found


def _tools(helper: Helper, specification: AgentSpecification) -> list[str] | None:
    """The tools of a helper, None for all that the agent has and a helper can: a list only narrows."""
    if helper.tools is None and helper.has_commands:
        return None
    kept = [tool for tool in specification.tools if tool not in (*_WITHHELD, *TOOL_NAMES)]
    if not helper.has_commands:
        kept = [tool for tool in kept if tool != "Bash"]
    listed = helper.tools
    if listed is not None:
        kept = [tool for tool in kept if tool_listed(tool, listed)]
    for tool in specification.module_tools:
        if listed is None or (
            server_tool_listed(tool.server, tool.name, listed)
            if isinstance(tool, ServerTool)
            else module_tool_listed(tool.name, listed)
        ):
            kept.append(shown_name(tool))
    return kept


def waited_for(tool: str, tool_input: dict[str, Any]) -> dict[str, Any] | None:
    """The input of a call that starts a helper, so that the turn waits for it; None for other calls.

    By itself the program goes on without it and ends the turn, and between turns nothing may ask the model.
    """
    return {**tool_input, "run_in_background": False} if tool in TOOL_NAMES else None
