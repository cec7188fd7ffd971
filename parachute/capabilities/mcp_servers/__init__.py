"""The user's own MCP servers: approved by hash, each in a sandbox of its own, their tools for agents."""
