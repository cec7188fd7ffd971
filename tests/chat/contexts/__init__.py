"""Folders whose AGENTS.md or CLAUDE.md a conversation is told."""
