"""Writing and finding entries."""
