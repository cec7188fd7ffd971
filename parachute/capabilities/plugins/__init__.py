"""Plugins in the format of Claude Code: skills, agents, commands, hooks and MCP servers of somebody else, installed from git."""
