"""MCP servers elsewhere: this server calls them itself, within bounds, at the approved address only."""
