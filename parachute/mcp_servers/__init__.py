"""The user's own MCP servers: programs of other people that offer tools to agents, each in a box of its own."""
