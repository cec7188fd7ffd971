"""Modules as processes: a real core, a real supervisor, real hosts."""
