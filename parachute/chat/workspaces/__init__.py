"""Workspaces: the settings, limits and tools that conversations about one project share."""
