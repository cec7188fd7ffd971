"""Runs: a message and its answer, which belong to the server and not to the connection."""
