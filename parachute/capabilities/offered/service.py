"""The capabilities of a conversation, collected from every package of this wing."""

from parachute.capabilities.agents.service import Agents
from parachute.capabilities.mcp_servers.service import McpServers
from parachute.capabilities.plugins import offering
from parachute.capabilities.plugins.service import Plugins
from parachute.capabilities.skills.service import Skills
from parachute.chat.runs.capabilities import CapabilityNames, CapabilityRequest, CapabilitySource, OfferedCapabilities


class ConversationCapabilities(CapabilitySource):
    """Asks each kind of capability in turn."""

    def __init__(self, mcp_servers: McpServers, agents: Agents, skills: Skills, plugins: Plugins) -> None:
        self._plugins = plugins
        self._mcp_servers = mcp_servers
        self._agents = agents
        self._skills = skills

    async def offered(self, request: CapabilityRequest) -> OfferedCapabilities:
        """Return the user's own agents, skills and tools; those from outside have them only in a workspace."""
        # Who writes from outside is given what is the user's only where the user put the conversation in a workspace.
        if request.session.from_outside and request.workspace is None:
            return OfferedCapabilities()
        agents, skills = await self._agents.offered(request), await self._skills.offered(request)
        of_plugins = await offering.offered(self._plugins.library, request)
        tools, warnings = await self._mcp_servers.offered(
            request.choice.mcps, request.allowed_tools, request.choice.plugins
        )
        if request.agent is not None and (servers := request.agent.mcp_servers) is not None:
            tools = tuple(tool for tool in tools if tool.server in servers)
        own_skills = (f"{skills.plugin.name}:{name}" for name in skills.names) if skills.plugin else ()
        return OfferedCapabilities(
            tools=tools,
            warnings=(*skills.warnings, *of_plugins.warnings, *warnings),
            helpers=(*agents.helpers, *of_plugins.helpers),
            plugins=(*((skills.plugin,) if skills.plugin else ()), *of_plugins.plugins),
            names=CapabilityNames(
                (*agents.names, *of_plugins.agents),
                (*skills.names, *of_plugins.skills),
                tuple(sorted({tool.server for tool in tools})),
            ),
            skills=(*own_skills, *of_plugins.skills),
            left_out=(*agents.left_out, *skills.left_out),
        )
