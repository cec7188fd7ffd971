"""The user's own MCP servers."""
