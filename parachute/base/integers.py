"""The whole numbers that callers may hand in."""

LARGEST = 2**53 - 1
"""The largest that is exact in JSON as most programs read it; SQLite and the system's calls take it, and refuse those beyond 64 bits."""
