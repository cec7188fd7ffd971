"""Starts, watches and restarts every process of this computer; small on purpose, it imports nothing but the standard library."""
