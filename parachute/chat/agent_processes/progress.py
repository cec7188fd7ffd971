"""Progress of a call, and its conversation: whoever shows the call is told of it, from wherever it is worked on."""

from collections.abc import Callable
from contextvars import ContextVar

Tell = Callable[[str], None]
"""Shows a line about the call; whoever is told bounds how often."""

tell: ContextVar[Tell | None] = ContextVar("tell", default=None)
"""Set in the task of a call."""

session: ContextVar[str | None] = ContextVar("session", default=None)
"""The conversation of a call, set in its task."""
