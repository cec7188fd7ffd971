"""Permissions of one conversation: the owner leaves it less than its workspace and the settings allow, never more."""
