"""What a module's process may not ask of the kernel: what no module needs, and to start programs where the user agreed to none."""

import sys

from parachute_runner import calls

from parachute.core.errors import ModuleError


def refuse(*, programs: bool) -> None:
    """Refuse it from now on, in all threads; error: ModuleError where the kernel cannot. Nothing holds a module that is not on Linux."""
    if sys.platform != "linux":
        return
    try:
        calls.refuse(programs=programs)
    except calls.Unfiltered as error:
        raise ModuleError(f"The module does not start: {error}.") from error
