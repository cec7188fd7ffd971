"""The event bus: listeners at once, modules at least once, also after a restart."""
