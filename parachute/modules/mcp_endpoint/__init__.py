"""`/mcp`: this computer as an MCP server, for programs of the owner's elsewhere that show a key."""
