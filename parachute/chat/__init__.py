"""Conversations: runs, sessions, prompts, workspaces, agent processes and the user's MCP servers."""
