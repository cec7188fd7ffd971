"""The feed: what has changed, for screens that show it, by topic and id and never with its content."""
