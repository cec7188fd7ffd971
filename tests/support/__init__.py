"""Stand-ins for the outside world, and readers that behave as the real clients do."""
