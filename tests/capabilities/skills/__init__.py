"""Skills."""
