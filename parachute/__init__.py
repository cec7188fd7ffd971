"""A personal, local-first computer for one person's knowledge and agents."""

__version__ = "0.1.0"

# Names under which users and installed units know parts of this package from before: `aliases` says which.
__path__.append(f"{__path__[0]}/aliases")
