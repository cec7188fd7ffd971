"""A personal, local-first computer for one person's knowledge and agents."""

__version__ = "0.1.0"
