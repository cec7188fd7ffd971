"""Daily: the user's journal."""
