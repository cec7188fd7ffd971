"""The tool `suggest` for agents of modules: core's own, in the same server as the tools of modules."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from parachute.automation.suggestions.models import REASONING_LIMIT, Source, Suggestion
from parachute.automation.suggestions.service import Suggestions
from parachute.base.errors import NotAllowed
from parachute.chat.sessions.models import Owner
from parachute.core.decorators import SUGGEST_TOOL
from parachute.core.services import ACTIONS
from parachute.modules.runtime.models import OfferedTool
from parachute.modules.runtime.service import Hosts

_DESCRIPTION = "Propose a change to what another module keeps. Nothing changes until the user has approved it; do not say that it is done."


def suggest_tool(targets: Sequence[str]) -> OfferedTool:
    """The tool as an agent is offered it that may make suggestions for these modules."""
    text = {"type": "string"}
    properties = {
        "action": {**text, "enum": list(ACTIONS)},
        "target_module": {**text, "enum": list(targets)},
        "target_id": {**text, "description": "Para-id of what shall change, such as para:brain:…; not for create."},
        "payload": {"type": "object", "description": "The change, in the form that the module expects."},
        "reasoning": {**text, "maxLength": REASONING_LIMIT, "description": "Why the user should want it."},
    }
    required = ["action", "target_module", "payload", "reasoning"]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return OfferedTool("core", SUGGEST_TOOL, _DESCRIPTION, schema)


def waits(made: Suggestion) -> str:
    """The answer to an agent that made a suggestion."""
    return f"The suggestion {made.id} waits for the user, who decides about it."


class AgentTools:
    """The tools of modules, and core's own; `owner` says which module and agent a session belongs to, as the owner's folder knows.

    `answering` is called with the session and the module before a module's answer is passed on.
    What an agent may do is looked up when it calls: in the manifest that the user approved, by the session that it answers in.
    """

    def __init__(
        self,
        hosts: Hosts,
        suggestions: Suggestions,
        owner: Callable[[str], Awaitable[Owner | None]],
        answering: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self._hosts = hosts
        self._suggestions = suggestions
        self._owner = owner
        self._answering = answering

    def tools(self) -> tuple[OfferedTool, ...]:
        """The tools of modules; `suggest` is offered by the profile of an agent that may use it."""
        return self._hosts.tools()

    async def call_tool(self, name: str, arguments: dict[str, Any], caller: str) -> str:
        """Call a tool for the session whose id is `caller`; errors: ParachuteError, for the agent to read."""
        if name != SUGGEST_TOOL:
            modules = [tool.module for tool in self._hosts.tools() if tool.name == name]
            try:
                return await self._hosts.call_tool(name, arguments, caller)
            finally:
                # Each may have read something for this that it had not read before.
                for each in modules:
                    await self._answering(caller, each)
        owner = await self._owner(caller)
        if owner is None or not owner.agent:
            raise NotAllowed("Only agents of a module's manifest make suggestions.", key="not_a_module_agent")
        module = self._hosts.approved(owner.module)
        source = Source(owner.module, owner.agent, caller)
        made = await self._suggestions.propose(module, source, arguments)
        return waits(made)
