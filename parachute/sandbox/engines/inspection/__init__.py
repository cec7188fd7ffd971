"""Comparison of a sandbox with its specification, from outside, by the engine and from inside."""
