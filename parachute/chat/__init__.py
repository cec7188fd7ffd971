"""Conversations: runs, sessions, prompts, workspaces and agent processes."""
