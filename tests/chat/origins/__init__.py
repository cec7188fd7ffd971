"""Origins of runs."""
