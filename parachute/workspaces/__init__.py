"""Workspaces: what conversations about one project have in common."""
