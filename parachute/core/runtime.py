"""Module of the running code, for `parachute.core.brain` and the like."""

from contextvars import ContextVar
from typing import TYPE_CHECKING

from parachute.base.errors import Unavailable

if TYPE_CHECKING:
    from parachute.core.services import Core

# In a test several modules live in one process, each in its own tasks. In a module's own process the second name serves
# threads as well, which do not inherit the first.
_of_task: ContextVar["Core | None"] = ContextVar("parachute_core", default=None)
_of_process: "Core | None" = None


def enter(core: "Core | None", whole_process: bool = False) -> None:
    """From now on this task, and what it starts, belongs to a module; `whole_process`: threads too."""
    global _of_process
    _of_task.set(core)
    if whole_process:
        _of_process = core


def current() -> "Core":
    """The services of the module that asks; error: Unavailable outside of a module."""
    core = _of_task.get() or _of_process
    if core is None:
        raise Unavailable(
            "This works only inside of a module that runs.",
            "Use it in a route, a tool or an event handler; in tests, inside of `parachute.core.testing.run`.",
            key="outside_of_a_module",
        )
    return core
