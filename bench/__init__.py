"""Benchmarks: every budget of SPECIFICATION.md, measured on a real computer with a scripted model."""
