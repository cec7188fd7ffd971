"""Specifications that core writes of a process, and the units that the supervisor makes of them."""
