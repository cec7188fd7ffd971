"""The capabilities of a conversation, collected from every package of this wing."""

from parachute.capabilities.mcp_servers.service import McpServers
from parachute.chat.runs.capabilities import CapabilityRequest, CapabilitySource, OfferedCapabilities


class ConversationCapabilities(CapabilitySource):
    """Asks each kind of capability in turn."""

    def __init__(self, mcp_servers: McpServers) -> None:
        self._mcp_servers = mcp_servers

    async def offered(self, request: CapabilityRequest) -> OfferedCapabilities:
        """Return the tools of the user's own MCP servers; those from outside have them only in a workspace."""
        # Who writes from outside is given a server of the user's only where the user put the conversation in a workspace.
        if request.session.from_outside and request.workspace is None:
            return OfferedCapabilities()
        tools, warnings = await self._mcp_servers.offered(request.choice.mcps, request.allowed_tools)
        return OfferedCapabilities(tools, warnings)
