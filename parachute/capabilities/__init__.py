"""Agents, skills, plugins and MCP servers: what conversations have beside the computer's own tools."""
