"""Attempts of an agent, run inside of a sandbox as scripts, with the standard library only."""
