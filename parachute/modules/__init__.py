"""Modules: what is installed, at which content it was approved, and the copy of it that runs."""
