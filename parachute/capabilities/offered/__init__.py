"""Capabilities of one conversation: what is left after the filters of trust, workspace and agent."""
